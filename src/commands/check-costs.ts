import type { Terms } from '../budget/bucket.ts';
import { allowedPerDay, isRateWindowRepeated, windowAt } from '../budget/bucket.ts';
import { WINDOWS } from '../budget/headers.ts';
import { type Ledger, quotaIn } from '../budget/ledger.ts';
import { usable } from '../budget/long-window.ts';
import type { Quota } from '../budget/quota.ts';
import { formatDuration, MS_PER_DAY } from '../lib/duration.ts';
import type { Schedule } from '../scheduler/schedule.ts';
import { of, schedulesOf } from '../scheduler/views.ts';
import type { Pace, Source } from '../sources/source.ts';
import { type Entry, emptyEntry, requestsPerPoll, sourceId } from '../state/entry.ts';

/** What the costs are worked out from. */
export interface CheckInput {
  readonly sources: readonly Source[];
  readonly terms: Terms;
  readonly ledger: Ledger;
  /** The bucket that a source draws from, as far as known. */
  readonly bucketOf: (source: Source) => string;
  readonly entries: ReadonlyMap<string, Entry>;
  /** Where the limits are from, for the reader. */
  readonly limitsFrom: string;
  /** Unix ms. */
  readonly now: number;
}

const COVERAGE: Readonly<Record<Pace['coverage'], string>> = {
  full: '',
  finalized: 'no head passes, every finalized epoch',
  sampled: 'newest finalized epoch only, those between are skipped',
};

/** The costs of a configuration as a table: what it asks for, what the limits allow, and what comes of it. Pure. */
export function describeCosts(input: CheckInput): string {
  const { sources, terms, ledger, bucketOf, entries, now } = input;
  const known = sources.map((source) => {
    const entry = entries.get(sourceId(source)) ?? emptyEntry(source);
    return { source, shown: entry, known: entry, running: false };
  });
  const allowed = (bucket: string): number => allowedPerDay(ledger.buckets[bucket], terms, now);
  const quotaOf = (bucket: string): Quota => quotaIn(ledger, bucket, terms, now);
  const opensAt = (source: Source): number => quotaOf(bucketOf(source)).opensAt;
  const schedules = schedulesOf(known, { allowance: { bucketOf, allowedPerDay: allowed }, quotaOf, opensAt }, now);
  const paces = new Map([...schedules].map(([source, { pace }]) => [source, pace]));
  const configured = new Map(
    known.map(({ source, known: entry }) => [source, source.pace(Number.POSITIVE_INFINITY, requestsPerPoll(entry))]),
  );
  const rows = sources.map((source) => rowOf(source, of(configured, source), of(schedules, source)));
  const buckets = [...new Set(sources.map(bucketOf))];
  return [
    `Limits: ${input.limitsFrom}.`,
    ...buckets.flatMap((bucket) => describeBucket(input, bucket, allowed(bucket))),
    '',
    ...table(['source', 'chain', 'configured', 'requests/day', 'effective', 'requests/day', 'stretch', ''], rows),
    '',
    `Together ${perDay(sum(configured.values()))} requests a day as configured, ${perDay(sum(paces.values()))} as the limits allow.`,
    ...buckets.flatMap((bucket) => describeEnd(input, bucket, configured)),
    ...(entries.has('machines')
      ? []
      : ['A sweep of the machines is assumed to take one request, as up to 8 of them do.']),
    '',
  ].join('\n');
}

function rowOf(source: Source, configured: Pace, { pace, wait }: Schedule): string[] {
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

function describeBucket({ ledger, terms }: CheckInput, name: string, allowed: number): string[] {
  const bucket = ledger.buckets[name];
  const limits = WINDOWS.filter(
    (window) => bucket?.limits[window] !== undefined && !isRateWindowRepeated(bucket, window),
  ).map((window) => `${bucket?.limits[window]} per ${window}${left(bucket?.remaining[window])}`);
  const share = `${Math.round(terms.utilization * 100)} % of it for this exporter: ${perDay(allowed)} requests a day`;
  return [`  bucket ${name || '(not named yet)'}: ${limits.join(', ') || 'nothing known'}; ${share}.`];
}

function left(remaining: number | undefined): string {
  return remaining === undefined ? '' : ` (${remaining} left)`;
}

/** When the quota would be used up if nothing were stretched. */
function describeEnd(
  { ledger, terms, now, bucketOf }: CheckInput,
  name: string,
  configured: ReadonlyMap<Source, Pace>,
): string[] {
  const bucket = ledger.buckets[name];
  const month = bucket && windowAt(bucket, 'month', terms, now);
  if (!month) return [];
  const wanted = sum([...configured].filter(([source]) => bucketOf(source) === name).map(([, pace]) => pace));
  const end = now + (usable(month, terms.utilization) / wanted) * MS_PER_DAY;
  return [`As configured the quota of ${month.limit} would be used up on ${minuteOf(end)}.`];
}

function minuteOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function sum(paces: Iterable<Pace>): number {
  return [...paces].reduce((total, pace) => total + pace.requestsPerDay, 0);
}

function duration(ms: number): string {
  return formatDuration(Math.max(1, Math.round(ms / 1000)) * 1000);
}

function perDay(requests: number): string {
  return requests >= 10 ? String(Math.round(requests)) : requests.toFixed(1);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const lines = [head, ...rows];
  const widths = head.map((_, i) => Math.max(...lines.map((line) => (line[i] ?? '').length)));
  return lines.map((line) =>
    line
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
