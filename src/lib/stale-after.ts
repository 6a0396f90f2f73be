import { MS_PER_MINUTE } from './duration.ts';
import type { Milliseconds } from './time.ts';

/** How old the values of a machine may be under `machines.stale_after: auto`, with polls at this interval. */
export function autoStaleAfter(intervalMs: Milliseconds): Milliseconds {
  return Math.max(10 * MS_PER_MINUTE, 2 * intervalMs + 3 * MS_PER_MINUTE);
}
