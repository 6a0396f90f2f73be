import { allowedPerDay, type Bucket, describePlan, usedByOthers, type WindowNow, windowAt } from '../budget/bucket.ts';
import { LONG_WINDOWS, type LongWindowName } from '../budget/long-window.ts';
import { requestsPerDay } from '../scheduler/schedules.ts';
import { type Cell, lines, quiet, type Row, type Table, time } from '../sources/content.ts';
import { MS_PER_DAY } from '../toolkit/lib/duration.ts';
import { html } from '../toolkit/lib/html.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { count, plural, span } from '../toolkit/lib/words.ts';
import type { StatusInput } from './headline.ts';

/** A row for each hour and month of a bucket: requests used, kept free and left, and how long they last. */
export function budgetTable(input: StatusInput, now: UnixMs): Table {
  const buckets = Object.entries(input.ledger.buckets);
  const rows = buckets.flatMap(([name, bucket]) =>
    LONG_WINDOWS.flatMap((window): Row[] => {
      const state = windowAt(bucket, window, input.budgetOptions, now);
      return state ? [windowRow(input, { name, bucket, window, state }, now)] : [];
    }),
  );
  return {
    title: 'Budget',
    columns: ['Window', 'Requests', 'Resets', 'At this pace'],
    rows,
    size: rows.length,
    shown: 0,
    brief: buckets.map(([name, bucket]) => describeBucket(input, name, bucket, now)).join(' '),
    empty: 'No quota is known.',
  };
}

/** Requests per day of the sources on a bucket; 0 if no request may be sent. */
function pacePerDay({ views, ledger }: StatusInput, bucket: string): number {
  if (ledger.key.standing === 'revoked') return 0;
  const reads = views.flatMap((view) => view.reads.filter((read) => read.bucket === bucket));
  return requestsPerDay({ reads });
}

interface ShownWindow {
  readonly name: string;
  readonly bucket: Bucket;
  readonly window: LongWindowName;
  readonly state: WindowNow;
}

function windowRow(input: StatusInput, shown: ShownWindow, now: UnixMs): Row {
  const { name, bucket, window, state } = shown;
  const { left, limit } = state;
  const taken = usedByOthersIn(bucket, window, state);
  const used = Math.min(state.own, limit - left);
  const others = Math.min(taken ?? 0, limit - left - used);
  const requests = lines(
    `${count(left)} of ${count(limit)} left`,
    `${count(used)} used${taken === undefined ? '' : ` here, ${count(others)} by others`}`,
    `${count(limit - used - others - left)} kept free`,
  );
  return [windowName(window, name, input), requests, resets(shown, now), quotaEnd(input, shown, now)];
}

/** Undefined if no response reports exactly this limit: usage under a larger limit does not count. */
function usedByOthersIn(bucket: Bucket, window: LongWindowName, state: WindowNow): number | undefined {
  const isReported = state.remaining !== undefined && bucket.limits[window] === state.limit;
  return isReported ? usedByOthers(bucket, window) : undefined;
}

function windowName(window: LongWindowName, bucket: string, { ledger }: StatusInput): Cell {
  return Object.keys(ledger.buckets).length > 1
    ? lines(`per ${window}`, quiet(`bucket ${bucket || 'unnamed'}`))
    : `per ${window}`;
}

function resets({ state: { resetsAt, end } }: ShownWindow, now: UnixMs): Cell {
  if (end <= resetsAt) return time(resetsAt, now);
  return lines(time(resetsAt, now), html`${quiet('or, on a trial, ')}${time(end, now)}`);
}

/** When the remaining quota is used up, if all polls run as planned. */
function quotaEnd(input: StatusInput, { name, state }: ShownWindow, now: UnixMs): Cell {
  const { left, end: until } = state;
  const pace = pacePerDay(input, name);
  if (left < 1) return lines('used up', quiet('no requests until the reset'));
  if (pace === 0) return 'no requests';
  const end = now + (left / pace) * MS_PER_DAY;
  const spare = left - (pace * (until - now)) / MS_PER_DAY;
  const lasts = end >= until ? `lasts, ${count(Math.max(0, spare))} to spare` : html`ends ${time(end, now)}`;
  return lines(lasts, quiet(`${plural(Math.round(pace), 'request')} a day`));
}

/** The plan as learned from responses, and any wait that the service requires. */
function describeBucket(input: StatusInput, name: string, bucket: Bucket, now: UnixMs): string {
  const { ledger, budgetOptions } = input;
  const of = Object.keys(ledger.buckets).length > 1 ? ` of bucket ${name || 'unnamed'}` : '';
  const allowed = count(allowedPerDay(bucket, budgetOptions, now));
  const share =
    ledger.key.standing === 'revoked'
      ? 'No requests are allowed.'
      : `Needs ${count(pacePerDay(input, name))} of ${allowed} requests a day.`;
  const reserved = Math.round(windowAt(bucket, 'month', budgetOptions, now)?.reserved ?? 0);
  const others =
    reserved > 0
      ? ` Until the quota resets, ${plural(reserved, 'request')} ${reserved === 1 ? 'is' : 'are'} reserved for others on the account.`
      : '';
  const wait = bucket.wait.until > now ? ` No requests for ${span(bucket.wait.until - now)} after a 429.` : '';
  const assumed = (budgetOptions.perSecond ?? budgetOptions.perMonth) ? 'as configured' : '1 per second is assumed';
  const plan = describePlan(bucket) ?? `not learned yet, ${assumed}`;
  return `Plan${of}: ${plan}. ${share}${others}${wait}`;
}
