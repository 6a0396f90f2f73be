import * as z from 'zod';
import { ENDPOINTS, type Part } from '../api/endpoints.ts';
import { RequestFailed } from '../api/errors.ts';
import { MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import type { PartState, PollContext } from './source.ts';

/** Refused attempts in a row at an optional part. Persisted. */
export const Refusal = z.object({
  reason: z.string(),
  attempts: z.number(),
  /** Unix ms of the first and the last attempt. */
  firstAt: z.number(),
  lastAt: z.number(),
});
export type Refusal = z.infer<typeof Refusal>;

/**
 * Whether the service refuses this request. A 400 of v2 is a mistake in the request, and never a refusal. A 404 about
 * validators says that none of them is known.
 */
export function isRefusal(failure: unknown): failure is RequestFailed {
  if (!(failure instanceof RequestFailed)) return false;
  const { version, is404None } = ENDPOINTS[failure.endpoint];
  switch (failure.reason) {
    case 'forbidden':
    case 'method_not_allowed':
      return true;
    case 'not_found':
      return !is404None;
    case 'bad_request':
      return version === 'v1';
    default:
      return false;
  }
}

/** The refusals of a part after a failure. A success ends them; the failures of an outage do not. */
export function afterFailure(before: Refusal | undefined, failure: Error, now: UnixMs): Refusal | undefined {
  if (!isRefusal(failure)) return before;
  const { reason } = failure;
  const isNext = before && mayPass(before.reason) === mayPass(reason);
  const { attempts, firstAt } = isNext ? before : { attempts: 0, firstAt: now };
  // A time in the future is from before the clock was set back.
  return { reason, attempts: attempts + 1, firstAt: Math.min(firstAt, now), lastAt: now };
}

/**
 * Until when the part is off: for a day after the last attempt, unless `Source.anew` forgets it before. 0: it does not
 * count as refused.
 */
export function refusedUntil(refusal: Refusal | undefined): UnixMs {
  return refusal && isCertain(refusal) ? refusal.lastAt + MS_PER_DAY : 0;
}

/** The refusals of a part after its request failed. A part that counts as refused does not fail the poll. */
export function refused(
  { timing: { now }, signal, events }: Omit<PollContext<unknown>, 'options'>,
  part: Part,
  before: Refusal | undefined,
  error: unknown,
): { refusal: Refusal | undefined; failure: Error | undefined } {
  if (signal.aborted || !(error instanceof Error)) throw error;
  const refusal = afterFailure(before, error, now);
  if (now >= refusedUntil(refusal)) return { refusal, failure: error };
  if (refusedUntil(before) === 0) events.push({ type: 'part_refused', part, err: error.message });
  return { refusal, failure: undefined };
}

/** API v1 also answers with 400 if its database fails for a while (api-facts 5.3). */
function mayPass(reason: string): boolean {
  return reason === 'bad_request';
}

/**
 * Whether the part is really refused: at two attempts that are some time apart, because a single 403 may come of a change
 * of the plan, which takes up to a minute to apply (api-facts 6.3).
 */
function isCertain({ reason, attempts, firstAt, lastAt }: Refusal): boolean {
  const apartMs = lastAt - firstAt;
  return mayPass(reason) ? attempts >= 3 && apartMs >= MS_PER_HOUR : apartMs >= 10 * MS_PER_MINUTE;
}

export function partState(part: Part, refusal: Refusal | undefined): PartState {
  return { part, isRefused: refusedUntil(refusal) > 0 };
}
