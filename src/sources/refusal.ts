import * as z from 'zod';
import { type FailureReason, RequestFailed } from '../api/errors.ts';
import type { UnixMs } from '../lib/time.ts';

/** A refusal of a request that is not in the specification. Persisted. */
export const Refusal = z.object({
  reason: z.string(),
  /** Unix ms at which the operator had last started or reloaded the program. */
  operatorAt: z.number(),
});
export type Refusal = z.infer<typeof Refusal>;

/** Statuses that refuse this particular request. */
export const REFUSALS: readonly FailureReason[] = ['bad_request', 'forbidden', 'not_found', 'method_not_allowed'];

/** Whether the service refuses this request, and would do so again. */
export function isRefusal(failure: unknown): failure is RequestFailed {
  return failure instanceof RequestFailed && REFUSALS.includes(failure.reason);
}

/** The refusal, if the failure is one; undefined for other failures, which may be temporary. */
export function refusalOf(failure: Error, operatorAt: UnixMs): Refusal | undefined {
  return isRefusal(failure) ? { reason: failure.reason, operatorAt } : undefined;
}

/** Whether a refusal still applies. A start or a reload ends it, because the plan of the account may have changed. */
export function isInForce(refusal: Refusal | undefined, operatorAt: UnixMs): boolean {
  return refusal?.operatorAt === operatorAt;
}
