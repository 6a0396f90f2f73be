import * as z from 'zod';
import type { Pace, Read, Timing } from '../sources/read.ts';
import type { Source } from '../sources/source.ts';
import type { Time } from '../toolkit/lib/held-time.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import { doubted, isRefused, partOf, Refusals } from './refusals.ts';

const unixMs: z.ZodType<UnixMs> = z.number();
const milliseconds: z.ZodType<Milliseconds> = z.number();

/** The saved results of the attempts at one read. */
const Attempt = z.object({
  /** Failures since the last success. */
  failuresInARow: z.number(),
  /** When the first of them ended. Absent without one. */
  failingSince: unixMs.exactOptional(),
  lastAttemptAt: unixMs.exactOptional(),
  lastSuccessAt: unixMs.exactOptional(),
  durationMs: milliseconds,
  lastError: z.object({ at: unixMs, reason: z.string(), message: z.string() }).exactOptional(),
  /** Since when every attempt failed because the service lacks what it used to have. */
  notFoundSince: unixMs.exactOptional(),
  /**
   * The read runs at once, because it failed with another key or before a sibling worked again, was refused before a reload, or the clock
   * was set meanwhile.
   */
  isDueNow: z.literal(true).exactOptional(),
  /** No attempt before this time, whatever the interval. */
  pausedUntil: unixMs.exactOptional(),
  /** The effective interval at the last attempt. Absent if no limit was known then. */
  intervalMs: z.number().positive().exactOptional(),
  /** Whether the budget stretched it. */
  isStretched: z.literal(true).exactOptional(),
  /** When the newest data of its responses ended, and their age at the last response (`Freshness`). */
  dataAt: unixMs.exactOptional(),
  behindMs: milliseconds.exactOptional(),
  /** Requests that each of the last successful attempts took, newest last. */
  costs: z.array(z.number()).exactOptional(),
  /** How long each of these attempts took, with waits for the budget. */
  durations: z.array(milliseconds).exactOptional(),
});
export type Attempt = Readonly<z.infer<typeof Attempt>>;

/** The state of one source, in one document. */
export interface Entry<T = unknown> {
  readonly value: T;
  /** The attempts by the name of the read. Kept even for reads that the source no longer has, for their return. */
  readonly reads: Readonly<Record<string, Attempt>>;
  readonly refusals: Refusals;
  /** The reads that the budget left out, or the configuration lacks, since their last attempt. */
  readonly leftOut: readonly string[];
}

export function entrySchema<T>({ state }: Source<T>): z.ZodType<Entry<T>> {
  return z.object({
    value: state,
    reads: z.record(z.string(), Attempt),
    refusals: Refusals,
    leftOut: z.array(z.string()),
  });
}

export function emptyEntry<T>({ empty }: Source<T>): Entry<T> {
  return { value: empty, reads: {}, refusals: {}, leftOut: [] };
}

const NEVER_TRIED: Attempt = { failuresInARow: 0, durationMs: 0 };

/** The last attempt at a read. */
export function attemptOf({ reads }: Pick<Entry, 'reads'>, { name }: { readonly name: string }): Attempt {
  return reads[name] ?? NEVER_TRIED;
}

/** Whether the service refuses the whole read. */
export function isOff({ refusals }: Pick<Entry, 'refusals'>, { endpoints }: Pick<Read<never>, 'endpoints'>): boolean {
  return isRefused(refusals, partOf(endpoints[0]));
}

/** The entry when the program continues with another key. */
export function withAnotherKey(entry: Entry): Entry {
  return withFailed(entry, ({ pausedUntil: _, ...rest }) => ({ ...rest, isDueNow: true }));
}

/**
 * The entry when a read of the source works again. Failed reads outside `ran` run again at once: they may work again too, and their next
 * retry may be an hour away.
 */
export function afterRecovery(entry: Entry, ran: ReadonlySet<string>): Entry {
  return withFailed(entry, (attempt, name) => (ran.has(name) ? attempt : { ...attempt, isDueNow: true }));
}

function withFailed(entry: Entry, change: (attempt: Attempt, name: string) => Attempt): Entry {
  const reads = Object.entries(entry.reads).map(([name, attempt]): [string, Attempt] => [
    name,
    attempt.failuresInARow > 0 ? change(attempt, name) : attempt,
  ]);
  return { ...entry, reads: Object.fromEntries(reads) };
}

/**
 * The entry with which a process starts, reloads or takes over. Requests refused parts again, because the account may have another plan.
 */
export function doubtingRefusals<T>({ reads }: Source<T>, entry: Entry<T>): Entry<T> {
  const refused = reads.filter((read) => isOff(entry, read));
  const repeated = refused.map((read) => [read.name, { ...attemptOf(entry, read), isDueNow: true }] as const);
  const known = withLeftOut(
    entry,
    Object.keys(entry.reads).filter((name) => reads.every((read) => read.name !== name)),
  );
  return { ...known, reads: { ...entry.reads, ...Object.fromEntries(repeated) }, refusals: doubted(entry.refusals) };
}

/** The entry while these reads are off. The same object if nothing changes. */
export function withLeftOut<T>(entry: Entry<T>, names: readonly string[]): Entry<T> {
  const fresh = names.filter((name) => !entry.leftOut.includes(name));
  return fresh.length === 0 ? entry : { ...entry, leftOut: [...entry.leftOut, ...fresh] };
}

export function sourceId(source: Pick<Source, 'name' | 'chain'>): string {
  return source.chain ? `${source.name}-${source.chain}` : source.name;
}

const ATTEMPTS_KEPT = 5;

/** The figures of the last successful attempts with the latest one, newest last. */
export function withLatest(last: readonly number[] = [], latest: number): number[] {
  return [...last, latest].slice(-ATTEMPTS_KEPT);
}

/** The usual requests of a run. */
export function requestsPerRun(read: Pick<Read<never>, 'cost' | 'assumed'>, { costs }: Pick<Attempt, 'costs'>): number {
  const { cost = 1, assumed = cost } = read;
  return Math.max(cost, usual(costs) || assumed);
}

/**
 * The lower median of the last runs, so that an unusual run does not change the plan. 0 before the second run, because the first run reads
 * more than later ones.
 */
export function usual(last: readonly number[] = []): number {
  return last.length < 2 ? 0 : (last.toSorted((a, b) => a - b)[(last.length - 1) >> 1] ?? 0);
}

type Paced = Pick<Pace, 'intervalMs' | 'isStretched'>;

/** @param paces Of all reads of the source that are on, by name */
export function timingOf(
  entry: Entry,
  { intervalMs, isStretched }: Paced,
  paces: ReadonlyMap<string, Paced>,
  { now, held }: Time,
): Timing {
  return {
    now,
    held,
    intervalMs,
    isStretched,
    of: (read) => paces.get(read)?.intervalMs,
    isFailing: (read) => (entry.reads[read]?.failuresInARow ?? 0) > 0,
  };
}
