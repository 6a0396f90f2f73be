import * as z from 'zod';
import { type FailureReason, RequestFailed } from '../api/errors.ts';
import { MS_PER_DAY, MS_PER_HOUR } from '../lib/duration.ts';
import type { UnixMs } from '../lib/time.ts';

/** Refused attempts in a row at an optional part, all with the same reason and the same `operatorAt`. Persisted. */
export const Refusal = z.object({
  reason: z.string(),
  attempts: z.number(),
  /** Unix ms of the first and the last attempt. */
  firstAt: z.number(),
  lastAt: z.number(),
  /** Unix ms at which the operator had last started or reloaded the program. */
  operatorAt: z.number(),
});
export type Refusal = z.infer<typeof Refusal>;

/** Statuses that refuse this particular request. */
const REFUSALS: readonly FailureReason[] = ['bad_request', 'forbidden', 'not_found', 'method_not_allowed'];

/** Whether the service refuses this request. */
export function isRefusal(failure: unknown): failure is RequestFailed {
  return failure instanceof RequestFailed && REFUSALS.includes(failure.reason);
}

/**
 * The refusals of a part after a failure. A success ends them; the failures of an outage do not. A part in which 404
 * means something else does not pass it on.
 */
export function afterFailure(
  before: Refusal | undefined,
  failure: Error,
  now: UnixMs,
  operatorAt: UnixMs,
): Refusal | undefined {
  if (!isRefusal(failure)) return before;
  const { reason } = failure;
  const isNext = before?.reason === reason && before.operatorAt === operatorAt;
  const { attempts, firstAt } = isNext ? before : { attempts: 0, firstAt: now };
  // A time in the future is from before the clock was set back.
  return { reason, attempts: attempts + 1, firstAt: Math.min(firstAt, now), lastAt: now, operatorAt };
}

/**
 * Until when the part is off: for a day after the last attempt, or until the operator starts or reloads the program,
 * because the plan of the account may have changed. 0: it does not count as refused.
 */
export function refusedUntil(refusal: Refusal | undefined, operatorAt: UnixMs): UnixMs {
  return refusal?.operatorAt === operatorAt && isCertain(refusal) ? refusal.lastAt + MS_PER_DAY : 0;
}

const MIN_ATTEMPTS = 3;

/** Whether the part is really refused. API v1 also answers with 400 if its database fails for a while (api-facts 5.3). */
function isCertain({ reason, attempts, firstAt, lastAt }: Refusal): boolean {
  return reason !== 'bad_request' || (attempts >= MIN_ATTEMPTS && lastAt - firstAt >= MS_PER_HOUR);
}
