import { z } from 'zod';
import { type Attempts, COVERAGES, type Coverage, type Source } from '../sources/source.ts';

/** What is known of one source: its value, and how its attempts went. Persisted as it is; times are Unix ms. */
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
  /** What failed is due at once: another key may have what the one before lacked. */
  readonly isDueNow?: true;
  /** Nothing is tried before, whatever the interval says. */
  readonly pausedUntil?: number;
  /** Effective interval at the last poll; absent where no limit was known then. */
  readonly intervalMs?: number;
  /** What the last poll covered; absent where no limit was known then. */
  readonly coverage?: Coverage;
  /** Requests that each of the last successful polls took, newest last. */
  readonly costs?: readonly number[];
  /** Milliseconds that each of them took. */
  readonly durations?: readonly number[];
  /** Polls in a row that did not find what work of once a day looks for. */
  readonly vainInARow?: number;
}

/** Where entries are kept over a restart. An entry is shown only after `save` resolved. */
export interface Store {
  save(id: string, entry: Entry): Promise<void>;
}

export function emptyEntry<T>(source: Source<T>): Entry<T> {
  return { value: source.empty, attempts: 0, failures: 0, failuresInARow: 0, durationMs: 0 };
}

/** The program goes on with another key. */
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

/** What the last polls came to, newest last. */
export function withLatest(last: readonly number[] = [], latest: number): number[] {
  return [...last, latest].slice(-POLLS_KEPT);
}

/** What a poll costs. */
export function requestsPerPoll({ costs = [] }: Entry): number {
  return Math.max(1, usual(costs) ?? 1);
}

/**
 * Milliseconds that a poll takes, waits for the budget included; 0 while not known. The first sweep of a large fleet says
 * little: it is not cut in two yet.
 */
export function msPerPoll({ durations = [] }: Entry): number {
  return durations.length < 2 ? 0 : (usual(durations) ?? 0);
}

/** The lower median, so that a first start or one bad page changes no plan. */
function usual(last: readonly number[]): number | undefined {
  return last.toSorted((a, b) => a - b)[(last.length - 1) >> 1];
}

/** Reads a persisted entry of a source back. */
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
