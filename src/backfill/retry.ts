import { PASSING, RequestFailed } from '../api/errors.ts';
import { BudgetClosed } from '../budget/permit.ts';
import type { Clock } from '../toolkit/lib/clock.ts';
import { MS_PER_HOUR, MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';

const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = MS_PER_MINUTE;
/** In a row: about five minutes in all. */
const MAX_FAILURES = 10;
/** If the wait is longer, the run ends, and the operator decides when to resume it. */
const MAX_CLOSED_MS = 2 * MS_PER_HOUR;

export interface RetryOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with the reason why no request is sent before `until`. */
  onWait(reason: string, until: UnixMs): void;
}

/** @throws the error of the request, if waiting does not help */
export async function retryUntilAnswered<T>(
  request: () => Promise<T>,
  { clock, signal, onWait }: RetryOptions,
): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      return await request();
    } catch (error) {
      if (signal.aborted) throw error;
      const now = clock.now();
      if (error instanceof BudgetClosed && error.until - now <= MAX_CLOSED_MS) {
        onWait('the service limits the request rate', error.until);
        await clock.sleep(error.until - now, signal);
        continue;
      }
      if (!(error instanceof RequestFailed)) throw error;
      // The budget knows how long to wait, and delays the next request.
      if (error.reason === 'rate_limited') continue;
      failures += 1;
      if (!PASSING.includes(error.reason) || failures >= MAX_FAILURES) throw error;
      const wait = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));
      onWait(error.message, now + wait);
      await clock.sleep(wait, signal);
    }
  }
}
