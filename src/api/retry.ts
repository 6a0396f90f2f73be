import type { Milliseconds } from '../lib/time.ts';
import type { FailureReason } from './errors.ts';

const MAX_RETRIES = 2;
const FIRST_BACKOFF_MS = 1_000;

/**
 * How long to wait before the next attempt; undefined if another attempt cannot help. `failures` includes this one;
 * `random` in [0, 1) spreads the callers ("equal jitter": at least half the backoff). The wait after a 429 is not
 * decided here: the budget keeps the bucket closed until the reset.
 */
export function retryDelay(reason: FailureReason, failures: number, random: number): Milliseconds | undefined {
  if (failures > MAX_RETRIES) return undefined;
  switch (reason) {
    case 'network':
    case 'timeout':
    case 'server_error':
      return FIRST_BACKOFF_MS * 2 ** (failures - 1) * (0.5 + random / 2);
    case 'rate_limited':
      return 0;
    default:
      return undefined;
  }
}
