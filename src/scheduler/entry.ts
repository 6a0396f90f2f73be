import * as z from 'zod';
import { COVERAGES, type Source } from '../sources/source.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';

const unixMs: z.ZodType<UnixMs> = z.number();
const milliseconds: z.ZodType<Milliseconds> = z.number();

/** The saved results of the polls of a source. */
const POLLS = {
  /** Failures since the last success. */
  failuresInARow: z.number(),
  /** When the first of them ended; absent without any. */
  failingSince: unixMs.exactOptional(),
  lastAttemptAt: unixMs.exactOptional(),
  lastSuccessAt: unixMs.exactOptional(),
  durationMs: milliseconds,
  lastError: z.object({ at: unixMs, reason: z.string(), message: z.string() }).exactOptional(),
  /** The source is polled at once: the failure was with another key, or the clock was set during the last poll. */
  isDueNow: z.literal(true).exactOptional(),
  /** No poll before this time, whatever the interval. */
  pausedUntil: unixMs.exactOptional(),
  /** Effective interval at the last poll; absent where no limit was known then. */
  intervalMs: z.number().positive().exactOptional(),
  /** What the last poll covered; absent where no limit was known then. */
  coverage: z.enum(COVERAGES).exactOptional(),
  /** Requests that each of the last successful polls took, newest last. */
  costs: z.array(z.number()).exactOptional(),
  /** How long each of those polls took. */
  durations: z.array(milliseconds).exactOptional(),
};

/** The state of one source: its value, and the results of its polls. */
export type Entry<T = unknown> = { readonly value: T } & Readonly<z.infer<z.ZodObject<typeof POLLS>>>;

/** Reads a saved entry of a source. */
export function entrySchema<T>(source: Source<T>): z.ZodType<Entry<T>> {
  return z.object({ value: source.state, ...POLLS });
}

export function emptyEntry<T>(source: Source<T>): Entry<T> {
  return { value: source.empty, failuresInARow: 0, durationMs: 0 };
}

/** The entry when the program continues with another key. */
export function withAnotherKey(entry: Entry): Entry {
  if (entry.failuresInARow === 0) return entry;
  const { pausedUntil: _, ...rest } = entry;
  return { ...rest, isDueNow: true };
}

/** The entry with which a process starts, reloads or takes over. */
export function anew(source: Source, entry: Entry, now: UnixMs): Entry {
  return source.anew ? { ...entry, value: source.anew(entry.value, now) } : entry;
}

export function sourceId(source: Pick<Source, 'name' | 'chain'>): string {
  return source.chain ? `${source.name}-${source.chain}` : source.name;
}

const POLLS_KEPT = 5;

/** The figures of the last polls including the latest, newest last. */
export function withLatest(last: readonly number[] = [], latest: number): number[] {
  return [...last, latest].slice(-POLLS_KEPT);
}

/** Requests that a poll usually takes. */
export function requestsPerPoll({ costs }: Entry): number {
  return Math.max(1, usual(costs));
}

/** How long a poll usually takes, waits for the budget included. */
export function msPerPoll({ durations }: Entry): Milliseconds {
  return usual(durations);
}

/**
 * The lower median, so that an unusual poll does not change the plan: with the most of the last polls, less than the
 * limit is used. 0 before the second poll, because the first one also reads what the next ones do not.
 */
function usual(last: readonly number[] = []): number {
  return last.length < 2 ? 0 : (last.toSorted((a, b) => a - b)[(last.length - 1) >> 1] ?? 0);
}
