import { WINDOWS } from '../budget/headers.ts';
import { type Ledger, UNNAMED } from '../budget/ledger.ts';
import type { Config } from '../config/config.ts';
import { budgetViewOf, type SourcePlan, viewsOf } from '../exporter/sources.ts';
import type { State } from '../exporter/state.ts';
import { MS_PER_PERIOD } from '../facts/chain.ts';
import { watchedCount } from '../facts/watch.ts';
import { requestsPerPoll } from '../scheduler/entry.ts';
import type { SourceView } from '../scheduler/schedules.ts';
import type { Pace } from '../sources/source.ts';
import { requestsPerStatusPoll } from '../sources/validators/costs.ts';
import { columns } from '../toolkit/flags/columns.ts';
import { formatDuration, MS_PER_DAY, MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import { shownBucket } from './shown-bucket.ts';

export interface CheckInput {
  readonly state: State;
  readonly plan: SourcePlan;
  readonly validators: Config['validators'];
  /** Text: where the limits come from. */
  readonly limitsFrom: string;
  readonly now: UnixMs;
}

const COVERAGE: Readonly<Record<Pace['coverage'], string>> = {
  full: '',
  finalized: 'no head passes, every finalized epoch',
  sampled: 'newest finalized epoch only, the others are skipped',
};

/** The costs of a configuration as a table: as configured, what the limits allow, and the result. Pure. */
export function describeCosts(input: CheckInput): string {
  const { state, plan, now } = input;
  // The costs assume that the key is valid, whatever is known of it.
  const ledger: Ledger = { ...state.ledger, key: { ...state.ledger.key, standing: 'valid' } };
  const { allowedPerDay } = budgetViewOf(plan, ledger, now);
  const costs = viewsOf({ ...state, ledger }, plan, now).map(costOf);
  const buckets = [...new Set(costs.map(({ view }) => view.bucket))];
  return [
    `Limits: ${input.limitsFrom}.`,
    ...buckets.map((bucket) => describeBucket(input, bucket, allowedPerDay(bucket))),
    '',
    ...columns([
      ['source', 'chain', 'configured', 'requests/day', 'effective', 'requests/day', 'stretch', ''],
      ...costs.map(rowOf),
    ]),
    '',
    `Total: ${perDay(sum(costs.map(({ configured }) => configured)))} requests a day as configured, ${perDay(sum(costs.map(({ view }) => view.pace)))} within the limits.`,
    ...(state.entries.has('machines')
      ? []
      : ['A sweep of the machines is assumed to take one request, which is enough for up to 8 machines.']),
    ...costs.flatMap(({ view }) => describeParts(input, view)),
    '',
  ].join('\n');
}

/** Settings that do not work as intended at the pace that the limits allow. */
export function stretchWarnings(config: Config, { state, plan, now }: CheckInput): string[] {
  return viewsOf(state, plan, now).flatMap((view) => {
    if (view.source.name === 'machines') return withdrawalWarning(config, view);
    return view.source.name === 'validators' ? lateWarning(view) : [];
  });
}

function withdrawalWarning({ machines }: Config, { pace }: SourceView): string[] {
  const { staleAfterMs, intervalMs } = machines;
  if (staleAfterMs === 'auto') return [];
  // Otherwise the warning about the configured interval covers it.
  if (staleAfterMs < intervalMs + MS_PER_MINUTE || staleAfterMs >= pace.intervalMs + MS_PER_MINUTE) return [];
  const lengths = `machines.stale_after (${duration(staleAfterMs)}) is less than the effective interval (${duration(pace.intervalMs)})`;
  return [`Warning: ${lengths}: values are withdrawn between polls. Set stale_after to auto.`];
}

function lateWarning({ source, pace }: SourceView): string[] {
  if (pace.intervalMs <= Math.max(source.intervalMs, MS_PER_DAY)) return [];
  const polls = `The limits allow a poll of the validators of ${source.chain} every ${duration(pace.intervalMs)}`;
  return [`Warning: ${polls}: alerts on them come too late. Name fewer in validators.watch, or choose a larger plan.`];
}

interface Cost {
  readonly view: SourceView;
  readonly configured: Pace;
}

function costOf(view: SourceView): Cost {
  return { view, configured: view.source.pace(Number.POSITIVE_INFINITY, requestsPerPoll(view.entry)) };
}

function rowOf({ view: { source, pace, wait }, configured }: Cost): string[] {
  return [
    source.name,
    source.chain ?? '',
    duration(configured.intervalMs),
    perDay(configured.requestsPerDay),
    duration(pace.intervalMs),
    perDay(pace.requestsPerDay),
    `x${(pace.intervalMs / source.intervalMs).toFixed(pace.intervalMs === source.intervalMs ? 0 : 1)}`,
    wait ? `waits for the quota until ${minuteOf(wait.until)}` : COVERAGE[pace.coverage],
  ];
}

/** The requests of each part of the validators, at the effective interval. */
function describeParts({ validators }: CheckInput, { source, pace }: SourceView): string[] {
  const { chain } = source;
  if (source.name !== 'validators' || !chain) return [];
  const requests = requestsPerStatusPoll(watchedCount(validators.watch[chain]));
  const ofStatus = (perPoll: number): string => perDay((perPoll * MS_PER_DAY) / pace.intervalMs);
  const parts = [
    ...(validators.status
      ? [`status ${ofStatus(requests.status)}, duties and score ${ofStatus(requests.performance)}`]
      : []),
    ...(validators.syncCommittee ? [`sync committees ${perDay(MS_PER_DAY / MS_PER_PERIOD)}`] : []),
    ...(validators.proposerSlashings ? ['proposer slashings one for each'] : []),
  ];
  return [`Requests a day for the validators of ${chain}: ${parts.join(', ')}.`];
}

function describeBucket({ state, plan }: CheckInput, name: string, allowed: number): string {
  const bucket = state.ledger.buckets[name];
  const limits = WINDOWS.filter((window) => bucket?.limits[window] !== undefined).map(
    (window) => `${bucket?.limits[window]} per ${window}${window === 'second' ? '' : left(bucket?.remaining[window])}`,
  );
  const share = `${Math.round(plan.budgetOptions.utilization * 100)} % for this exporter: ${perDay(allowed)} requests a day`;
  const isKnown = name !== UNNAMED || limits.length > 0;
  const known = `bucket ${shownBucket(name) || '(name not known yet)'}: ${limits.join(', ') || 'limits not known'}; `;
  return `  ${isKnown ? known : ''}${share}.`;
}

function left(remaining: number | undefined): string {
  return remaining === undefined ? '' : ` (${remaining} left)`;
}

function minuteOf(at: UnixMs): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function sum(paces: Iterable<Pace>): number {
  return [...paces].reduce((total, pace) => total + pace.requestsPerDay, 0);
}

function duration(ms: Milliseconds): string {
  return formatDuration(Math.max(1, Math.round(ms / 1000)) * 1000);
}

function perDay(requests: number): string {
  return requests >= 10 ? String(Math.round(requests)) : requests.toFixed(1);
}
