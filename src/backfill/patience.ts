import { type FailureReason, RequestFailed } from '../api/errors.ts';
import { BudgetClosed } from '../budget/permit.ts';
import type { Clock } from '../lib/clock.ts';

/** Trouble that passes, in a run of hours: each comes after the client's own retries. */
const PASSING: ReadonlySet<FailureReason> = new Set([
  'network',
  'timeout',
  'server_error',
  'invalid_body',
  'unexpected_status',
]);
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;
/** In a row: about five minutes in all. */
const MAX_FAILURES = 10;
/** A longer wait is the operator's: the run can be resumed at any time. */
const MAX_CLOSED_MS = 7_200_000;

export interface Waiting {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Told why and until when (Unix ms) nothing is asked. */
  onWait(reason: string, until: number): void;
}

/** Asks until there is an answer, or a failure that waiting does not mend: that one is thrown. */
export async function patiently<T>(ask: () => Promise<T>, { clock, signal, onWait }: Waiting): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted) throw error;
      const now = clock.now();
      if (error instanceof BudgetClosed && error.until - now <= MAX_CLOSED_MS) {
        onWait('the service limits requests', error.until);
        await clock.sleep(error.until - now, signal);
        continue;
      }
      if (!(error instanceof RequestFailed)) throw error;
      // The budget knows how long, and holds the next one back.
      if (error.reason === 'rate_limited') continue;
      failures += 1;
      if (!PASSING.has(error.reason) || failures >= MAX_FAILURES) throw error;
      const wait = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));
      onWait(error.message, now + wait);
      await clock.sleep(wait, signal);
    }
  }
}
