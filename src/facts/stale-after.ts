import { MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { Milliseconds } from '../toolkit/lib/time.ts';

/** How old the values of a machine may be under `machines.stale_after: auto`, with polls at this interval. */
export function autoStaleAfter(intervalMs: Milliseconds): Milliseconds {
  return Math.max(10 * MS_PER_MINUTE, 2 * intervalMs + 3 * MS_PER_MINUTE);
}
