import * as z from 'zod';
import { MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { Time } from '../toolkit/lib/held-time.ts';
import type { Milliseconds, Seconds, UnixMs } from '../toolkit/lib/time.ts';
import { type Observation, WINDOWS, type WindowName } from './headers.ts';
import {
  charge,
  expectedOfOthers,
  LONG_WINDOWS,
  LongWindow,
  type LongWindowName,
  renewal,
  renewed,
  report,
  unixMs,
  usable,
  windowEnd,
} from './long-window.ts';

const Count = z.number().nonnegative();
const PerWindow = z.partialRecord(z.enum(WINDOWS), Count);

/** The wait after the last 429. All 0 before the first 429. */
const Wait = z.object({
  /** No request is sent before this time. */
  until: unixMs,
  /** When the 429 came. */
  at: unixMs,
  /** Consecutive 429s without a time to wait. */
  blind: Count,
  /** Consecutive 429s that named a wait of 0, each right after the wait before. */
  zeros: Count,
});
type Wait = z.infer<typeof Wait>;

/** A rate-limit counter of the service, which has its own limits. */
export const Bucket = z.object({
  /** From the last responses, without filler (`reported`). */
  limits: PerWindow,
  remaining: PerWindow,
  resetAt: unixMs.optional(),
  wait: Wait,
  /** When this bucket charged our first request. */
  firstUseAt: unixMs.optional(),
  /** The limits per hour and month, if the account has them. */
  hour: LongWindow.optional(),
  month: LongWindow.optional(),
  /** When the operator started or reloaded the program. Absent once a response shows whether the plan has changed. */
  askedAt: unixMs.optional(),
  /** How long killed processes may have sent requests that are missing here, since a response last showed the count. */
  lacksMs: z.number().nonnegative().exactOptional(),
});
export type Bucket = z.infer<typeof Bucket>;

export interface BudgetOptions {
  /** Share of each limit to spend, in (0, 1]. */
  readonly utilization: number;
  /** Configured; the service may grant less. */
  readonly perSecond?: number | undefined;
  readonly perMonth?: number | undefined;
}

export const NO_WAIT: Wait = { until: 0, at: 0, blind: 0, zeros: 0 };
export const EMPTY_BUCKET: Bucket = { limits: {}, remaining: {}, wait: NO_WAIT };

/** The rate before the first response: that of the slowest plan. */
const ASSUMED_PER_SECOND = 1;
const FIRST_BLIND_WAIT_MS = MS_PER_MINUTE;
const MAX_BLIND_WAIT_MS = MS_PER_HOUR;
/** From the third in a row, a wait of 0 counts as unreadable. A used second has a wait of 1 (api-facts 6.1). */
const UNREADABLE_ZERO_WAITS = 3;
/** A 429 later than this after a wait starts a new row. */
const SAME_ROW_MS = MS_PER_MINUTE;
const HOURS_PER_DAY = 24;
/**
 * Our minimum share of the remaining quota. If others use nearly all of it, the quota runs out anyway, so saving for them is
 * useless.
 */
const MIN_SHARE = 0.25;
/** A quota of this size may be that of a trial, which lasts 30 days from its first use. */
const TRIAL_QUOTA = 1_000;
const TRIAL_MS = 30 * MS_PER_DAY;

/** Requests per second, before `utilization`. Only a revocation has a real limit of 0. `assumed`: no response has named one. */
export function perSecondOf(bucket: Bucket | undefined, options: BudgetOptions, assumed = ASSUMED_PER_SECOND): number {
  const granted = bucket?.limits.second || assumed;
  return Math.min(granted, options.perSecond ?? Number.POSITIVE_INFINITY);
}

export interface WindowNow extends LongWindow {
  /** Requests that this exporter may still make. */
  readonly left: number;
  /** Requests reserved for others until `end`. */
  readonly reserved: number;
  readonly resetsAt: UnixMs;
  /** Until when the rest must last. A trial's quota may end with the month or 30 days after its first use. */
  readonly end: UnixMs;
}

/** Undefined if no response and no setting names this limit, or while the operator asks for the plan. */
export function windowAt(
  bucket: Bucket,
  name: LongWindowName,
  options: BudgetOptions,
  now: UnixMs,
): WindowNow | undefined {
  const window = currentWindow(bucket, name, options, now);
  if (!window || isAsking(bucket, options, now)) return undefined;
  const resetsAt = renewal(name, window.since, now);
  // Until the next month is certain, the rest may already be of that month.
  const lastsTo = windowEnd(name, Math.max(window.since, now));
  const isTrial = name === 'month' && window.limit <= TRIAL_QUOTA;
  const end = isTrial ? Math.max(lastsTo, (bucket.firstUseAt ?? now) + TRIAL_MS) : lastsTo;
  const { remaining = 0 } = window;
  const reserved = Math.min(remaining, expectedOfOthers(window, usedByOthers(bucket, name) ?? 0, end, now));
  return { ...window, left: usable(window, options.utilization), reserved, resetsAt, end };
}

/** Only a wait for the end of the month is longer than an hour. */
export function isForMonth({ until, at }: Wait): boolean {
  return until - at > MS_PER_HOUR;
}

/** Whether the bucket is closed, but may send one request because the operator asks. */
export function isAsking(bucket: Bucket, options: BudgetOptions, now: UnixMs): boolean {
  return bucket.askedAt !== undefined && (bucket.wait.until > now || spentWindows(bucket, options, now).length > 0);
}

function spentWindows(bucket: Bucket, options: BudgetOptions, now: UnixMs) {
  return LONG_WINDOWS.flatMap((name) => {
    const window = currentWindow(bucket, name, options, now);
    if (!window || usable(window, options.utilization) >= 1) return [];
    return { name, resetsAt: renewal(name, window.since, now) };
  });
}

/** A configured quota applies even before the service has confirmed it. */
function currentWindow(
  bucket: Bucket,
  name: LongWindowName,
  options: BudgetOptions,
  now: UnixMs,
): LongWindow | undefined {
  const limit = name === 'month' ? options.perMonth : undefined;
  return bucket[name] ?? (limit === undefined ? undefined : { limit, own: 0, since: now });
}

/** The remaining requests in the hour and month of one bucket, regardless of the key. */
export interface Quota extends Pick<WindowNow, 'resetsAt' | 'end'> {
  /** No request before this time, because nothing is left or a 429 said so. In the past if the bucket is open. */
  readonly closedUntil: UnixMs;
  /** The reason for a wait: the used-up window, a 429, or otherwise the month, which may have little left. */
  readonly limit: LongWindowName | '429';
  /** What is left of the month. Infinity without a quota. */
  readonly left: number;
  /** Whether the plan has a monthly quota. Absent if no response has named its limits. */
  readonly isMonthly?: boolean;
  /** Since when the operator wants one request, due or not, to show whether the account has changed. */
  readonly askedAt?: UnixMs | undefined;
}

const NO_QUOTA = {
  left: Number.POSITIVE_INFINITY,
  resetsAt: Number.POSITIVE_INFINITY,
  end: Number.POSITIVE_INFINITY,
};

export function quotaOf(bucket: Bucket, options: BudgetOptions, now: UnixMs): Quota {
  const { askedAt } = bucket;
  const month = windowAt(bucket, 'month', options, now);
  const isMonthly = currentWindow(bucket, 'month', options, now) !== undefined;
  const plan = isMonthly ? { isMonthly: true } : Object.keys(bucket.limits).length > 0 ? { isMonthly: false } : {};
  if (isAsking(bucket, options, now)) {
    // A shorter wait is not about the plan.
    const closedUntil = isForMonth(bucket.wait) ? 0 : bucket.wait.until;
    return { closedUntil, limit: 'month', ...NO_QUOTA, ...plan, askedAt };
  }
  const spent = spentWindows(bucket, options, now);
  const closedUntil = Math.max(bucket.wait.until, ...spent.map(({ resetsAt }) => resetsAt));
  const limit = spent.at(-1)?.name ?? (bucket.wait.until > now ? '429' : 'month');
  const { left, resetsAt, end } = month ?? NO_QUOTA;
  return { closedUntil, limit, left, resetsAt, end, ...plan, askedAt };
}

export function chargeBucket(bucket: Bucket, options: BudgetOptions, now: UnixMs): Bucket {
  const charged = withWindows(bucket, (name) => currentWindow(bucket, name, options, now), charge);
  return { ...charged, firstUseAt: bucket.firstUseAt ?? now };
}

function withWindows(
  bucket: Bucket,
  windowOf: (name: LongWindowName) => LongWindow | undefined,
  change: (window: LongWindow) => LongWindow,
): Bucket {
  const changed = { ...bucket };
  for (const name of LONG_WINDOWS) {
    const window = windowOf(name);
    if (window) changed[name] = change(window);
  }
  return changed;
}

/** Requests per day that this exporter may make until the limits renew. */
export function allowedPerDay(bucket: Bucket | undefined, options: BudgetOptions, now: UnixMs): number {
  const bySecond = (perSecondOf(bucket, options, options.perSecond) * options.utilization * MS_PER_DAY) / 1000;
  const byHour = bucket?.hour ? bucket.hour.limit * options.utilization * HOURS_PER_DAY : Number.POSITIVE_INFINITY;
  const month = windowAt(bucket ?? EMPTY_BUCKET, 'month', options, now);
  if (!month) return Math.min(bySecond, byHour);
  const { left, reserved, remaining = Number.POSITIVE_INFINITY, end } = month;
  const ours = Math.max(left * MIN_SHARE, Math.min(left, remaining - reserved));
  return Math.min(bySecond, byHour, ours / ((end - now) / MS_PER_DAY));
}

/**
 * Requests that others on the account made in the hour or month of the last response. Undefined if unknown. A request of ours that
 * the service counted, but whose response was lost, counts as theirs.
 */
export function usedByOthers(bucket: Bucket, name: LongWindowName): number | undefined {
  const { remaining, own } = bucket[name] ?? {};
  const granted = bucket.limits[name];
  if (remaining === undefined || own === undefined || granted === undefined) return undefined;
  return Math.max(0, granted - remaining - own);
}

/** Applies the headers of a response. `unaccounted`: requests that its `remaining` may not include. */
export function observeBucket(
  bucket: Bucket,
  answer: { status: number; observation: Observation; unaccounted: number },
  options: BudgetOptions,
  now: UnixMs,
): Bucket {
  const { status, observation, unaccounted } = answer;
  const { askedAt, ...known } = bucket;
  const seen: Bucket = {
    // A server error says nothing about the plan.
    ...(status >= 500 ? bucket : known),
    ...reported(bucket, observation),
    ...(observation.resetSeconds === undefined ? {} : { resetAt: now + observation.resetSeconds * 1000 }),
  };
  const unwritten = Math.ceil((perSecondOf(seen, options) * (bucket.lacksMs ?? 0)) / 1000);
  for (const name of LONG_WINDOWS) {
    const isSaid = says(observation, name);
    const isReal = isSaid ? name === 'month' || seen.limits.hour !== seen.limits.month : bucket[name] !== undefined;
    const granted = isReal ? seen.limits[name] : undefined;
    const limit = realLimit(name, granted, options);
    if (limit === undefined) {
      delete seen[name];
      continue;
    }
    const remaining = isSaid && granted !== undefined ? observation.remaining[name] : undefined;
    const window = currentWindow(seen, name, options, now);
    const charged = window && isRefunded(status) ? charge(window, -1) : window;
    seen[name] = report(charged, { limit, granted, remaining, unaccounted, unwritten }, now);
    if (remaining !== undefined) delete seen.lacksMs;
  }
  if (!seen.hour && !seen.month && seen.limits.second) delete seen.lacksMs;
  // The response answers the operator's question: the account has another plan.
  const isOver = askedAt !== undefined && !isRefunded(status);
  return { ...seen, wait: isOver ? NO_WAIT : waitAfter(bucket.wait, status, observation.resetSeconds, now) };
}

/**
 * Whether a response shows if the plan has a window. For a window that the plan lacks, the service repeats the limit of another one
 * (api-facts 6.1), which only the same response can show. Ignores a limit of 0, which is real only for a revocation.
 */
function says({ limits }: Observation, window: WindowName): boolean {
  return Boolean(limits[window] && limits.second && (window !== 'hour' || limits.month));
}

/** The limits and remaining requests after a response. A window that repeats the limit of the second is filler. */
function reported(bucket: Bucket, observation: Observation): Pick<Bucket, 'limits' | 'remaining'> {
  const seen = { limits: { ...bucket.limits }, remaining: { ...bucket.remaining } };
  for (const window of WINDOWS.filter((name) => says(observation, name))) {
    const isFiller = window !== 'second' && observation.limits[window] === observation.limits.second;
    for (const field of ['limits', 'remaining'] as const) {
      const { [window]: count } = observation[field];
      if (isFiller) delete seen[field][window];
      else if (count !== undefined) seen[field][window] = count;
    }
  }
  return seen;
}

/** The long windows are not charged for failures that the caller did not cause (api-facts 6.1). */
function isRefunded(status: number): boolean {
  return status === 429 || status >= 500;
}

/**
 * Takes back the charge of a request whose response says nothing about the account. If the service counted the request, the next
 * response corrects our count. If we kept the charge, days without a network would use up the quota in our count, and no request would be
 * left to correct it.
 */
export function unchargeBucket(bucket: Bucket, options: BudgetOptions, now: UnixMs): Bucket {
  return withWindows(
    bucket,
    (name) => currentWindow(bucket, name, options, now),
    (window) => charge(window, -1),
  );
}

/** The lower of the service's limit and the configured one. Undefined if there is neither. */
function realLimit(name: LongWindowName, granted: number | undefined, options: BudgetOptions): number | undefined {
  const planned = name === 'month' ? options.perMonth : undefined;
  return granted === undefined ? planned : Math.min(granted, planned ?? Number.POSITIVE_INFINITY);
}

function waitAfter(previous: Wait, status: number, resetSeconds: Seconds | undefined, now: UnixMs): Wait {
  const { until, blind } = previous;
  // A closed bucket sends no request, so this response belongs to the event that closed the bucket.
  const isSameEvent = now < until;
  if (status !== 429) return { ...previous, blind: isSameEvent ? blind : 0, zeros: 0 };
  const isZero = resetSeconds === 0;
  const row = isZero && now - until <= SAME_ROW_MS ? previous : NO_WAIT;
  const zeros = row.zeros + Number(isZero && !isSameEvent);
  const wait = (ms: Milliseconds, n: number): Wait => ({ until: Math.max(until, now + ms), at: now, blind: n, zeros });
  const isReadable = resetSeconds !== undefined && zeros < UNREADABLE_ZERO_WAITS;
  // A reset of 0 may be a fraction of a second, rounded down.
  if (isReadable) return wait(Math.max(1, resetSeconds) * 1000, row.blind);
  // If our clock is ahead, a request may leave during the wait.
  if (isSameEvent && blind > 0) return wait(FIRST_BLIND_WAIT_MS, blind);
  return wait(Math.min(FIRST_BLIND_WAIT_MS * 2 ** blind, MAX_BLIND_WAIT_MS), blind + 1);
}

export function waitMoved(wait: Wait, ms: Milliseconds): Wait {
  return { ...wait, at: wait.at + ms, until: Math.max(0, wait.until + ms) };
}

/** The bucket at this time. After the clock was set back, a time in the future becomes `now`, and a wait keeps its length. */
export function settled(bucket: Bucket, time: Time): Bucket {
  const { now } = time;
  const { wait, askedAt, firstUseAt, hour, month } = bucket;
  return {
    ...bucket,
    wait: waitMoved(wait, Math.min(0, now - wait.at)),
    firstUseAt: firstUseAt && Math.min(firstUseAt, now),
    askedAt: askedAt && Math.min(askedAt, now),
    hour: hour && renewed('hour', hour, time),
    month: month && renewed('month', month, time),
  };
}

/**
 * Describes the plan by its limits (api-facts 6.2), because the service does not name it. Undefined if no response has named a limit.
 */
export function describePlan(bucket: Bucket | undefined): string | undefined {
  const second = bucket?.limits.second;
  if (!bucket || second === undefined) return undefined;
  const { month } = bucket.limits;
  if (month !== undefined) return `${second} per second and ${month} per month, as on a trial or a legacy plan`;
  const names: Readonly<Record<number, string>> = { 1: 'Hobbyist', 2: 'Business', 5: 'Scale' };
  return `${second} per second without a quota, as on ${names[second] ?? 'an agreed plan'}`;
}
