import { z } from 'zod';
import { type Attempts, COVERAGES, type Coverage, type Source } from '../sources/source.ts';

/** What is known of one source: its value, and how its polls went. Saved as it is; times are Unix ms. */
export interface Entry<T = unknown> {
  readonly value: T;
  readonly attempts: number;
  readonly failures: number;
  /** Failures since the last success. */
  readonly failuresInARow: number;
  readonly lastAttemptAt?: number;
  readonly lastSuccessAt?: number;
  readonly durationMs: number;
  readonly lastError?: { readonly at: number; readonly reason: string; readonly message: string };
  /** It failed with another key, and is tried at once with the new one. */
  readonly isDueNow?: true;
  /** No poll before this time, whatever the interval. */
  readonly pausedUntil?: number;
  /** Effective interval at the last poll; absent where no limit was known then. */
  readonly intervalMs?: number;
  /** What the last poll covered; absent where no limit was known then. */
  readonly coverage?: Coverage;
  /** Requests that each of the last successful polls took, newest last. */
  readonly costs?: readonly number[];
  /** Milliseconds that each of those polls took. */
  readonly durations?: readonly number[];
  /** Polls in a row in which a daily source did not find the new day. */
  readonly vainInARow?: number;
}

export function emptyEntry<T>(source: Source<T>): Entry<T> {
  return { value: source.empty, attempts: 0, failures: 0, failuresInARow: 0, durationMs: 0 };
}

/** The entry when the program goes on with another key. */
export function withAnotherKey(entry: Entry): Entry {
  if (entry.failuresInARow === 0) return entry;
  const { pausedUntil: _, ...rest } = entry;
  return { ...rest, isDueNow: true };
}

export function sourceId(source: Pick<Source, 'name' | 'chain'>): string {
  return source.chain ? `${source.name}-${source.chain}` : source.name;
}

export function attemptsOf(entry: Entry): Attempts {
  return {
    lastAttemptAt: entry.lastAttemptAt,
    lastSuccessAt: entry.lastSuccessAt,
    failing: entry.failuresInARow > 0,
    durationMs: entry.durationMs,
  };
}

const POLLS_KEPT = 5;

/** The figures of the last polls with the latest added, newest last. */
export function withLatest(last: readonly number[] = [], latest: number): number[] {
  return [...last, latest].slice(-POLLS_KEPT);
}

/** Requests that a poll usually takes. */
export function requestsPerPoll({ costs = [] }: Entry): number {
  return Math.max(1, median(costs) ?? 1);
}

/**
 * Milliseconds that a poll usually takes, waits for the budget included; 0 while not known. One poll alone says little:
 * a large fleet of machines is read in two halves only from the second poll on.
 */
export function msPerPoll({ durations = [] }: Entry): number {
  return durations.length < 2 ? 0 : (median(durations) ?? 0);
}

/** The lower median, so that one unusual poll does not change the plan. */
function median(last: readonly number[]): number | undefined {
  return last.toSorted((a, b) => a - b)[(last.length - 1) >> 1];
}

/** Reads a saved entry of a source. */
export function entrySchema<T>(source: Source<T>): z.ZodType<Entry<T>> {
  return z.object({
    value: source.state,
    attempts: z.number(),
    failures: z.number(),
    failuresInARow: z.number(),
    lastAttemptAt: z.number().exactOptional(),
    lastSuccessAt: z.number().exactOptional(),
    durationMs: z.number(),
    lastError: z.object({ at: z.number(), reason: z.string(), message: z.string() }).exactOptional(),
    isDueNow: z.literal(true).exactOptional(),
    pausedUntil: z.number().exactOptional(),
    intervalMs: z.number().positive().exactOptional(),
    coverage: z.enum(COVERAGES).exactOptional(),
    costs: z.array(z.number()).exactOptional(),
    durations: z.array(z.number()).exactOptional(),
    vainInARow: z.number().exactOptional(),
  });
}
