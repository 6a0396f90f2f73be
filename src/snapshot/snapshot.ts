import type { Attempts, Source } from '../sources/source.ts';

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
  /** Nothing is tried before, whatever the interval says. */
  readonly pausedUntil?: number;
}

/** Where entries are kept over a restart. An entry is shown only after `save` resolved. */
export interface Store {
  save(id: string, entry: Entry): Promise<void>;
}

export function emptyEntry<T>(source: Source<T>): Entry<T> {
  return { value: source.empty, attempts: 0, failures: 0, failuresInARow: 0, durationMs: 0 };
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
