import { z } from 'zod';
import { type FailureReason, RequestFailed } from '../api/errors.ts';
import type { UnixMs } from '../lib/time.ts';

/** That the service refused what is asked beyond the specification. Persisted. */
export const Refusal = z.object({
  reason: z.string(),
  /** Unix ms at which the operator had last started or reloaded the program. */
  operatorAt: z.number(),
});
export type Refusal = z.infer<typeof Refusal>;

/** A status that says no to this request in particular. */
export const REFUSALS: readonly FailureReason[] = ['bad_request', 'forbidden', 'not_found', 'method_not_allowed'];

/** Whether the service refuses this request, and would do so again. */
export function isRefusal(failure: unknown): failure is RequestFailed {
  return failure instanceof RequestFailed && REFUSALS.includes(failure.reason);
}

/** The refusal that this failure is; undefined where it is another failure, which may pass. */
export function refusalOf(failure: Error, operatorAt: UnixMs): Refusal | undefined {
  return isRefusal(failure) ? { reason: failure.reason, operatorAt } : undefined;
}

/** Whether a refusal holds. A start or a reload ends it, because the plan of the account may be another one by then. */
export function isInForce(refusal: Refusal | undefined, operatorAt: UnixMs): boolean {
  return refusal?.operatorAt === operatorAt;
}
