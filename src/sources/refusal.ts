import * as z from 'zod';
import { ENDPOINTS, type Part } from '../api/endpoints.ts';
import { RequestFailed } from '../api/errors.ts';
import { MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import type { PartState, Poll, PollContext } from './source.ts';

/** Refused attempts in a row at an optional part. */
const Refusal = z.object({
  reason: z.string(),
  attempts: z.number(),
  /** Unix ms of the first and the last attempt. */
  firstAt: z.number(),
  lastAt: z.number(),
});
type Refusal = z.infer<typeof Refusal>;

/** The refusals of the parts of a source, by part. Persisted. A success ends them; the failures of an outage do not. */
export const Refusals = z.record(z.string(), Refusal).optional();

interface WithRefusals {
  readonly refusals?: z.infer<typeof Refusals>;
}

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

/** Until when a part is off: for a day after the last attempt, unless `Source.anew` forgets it before. 0: it is on. */
export function refusedUntil({ refusals }: WithRefusals, part: Part): UnixMs {
  const refusal = refusals?.[part];
  return refusal && isCertain(refusal) ? refusal.lastAt + MS_PER_DAY : 0;
}

type Context = Pick<PollContext<unknown>, 'api' | 'timing' | 'signal' | 'events'>;

/** Reads an optional part, unless it is off. */
export async function readPart<T extends WithRefusals>(
  context: Context,
  part: Part,
  previous: T,
  read: () => Promise<T>,
): Promise<Poll<T>> {
  if (context.timing.now < refusedUntil(previous, part)) return { value: previous };
  try {
    return { value: afterSuccess(part, await read()) };
  } catch (error) {
    return afterFailure(context, part, previous, error);
  }
}

/** The value after a success. */
export function afterSuccess<T extends WithRefusals>(part: Part, value: T): T {
  const { [part]: _, ...refusals } = value.refusals ?? {};
  return value.refusals ? { ...value, refusals } : value;
}

/** The value after a failure just now. A part that counts as refused does not fail the poll. */
export function afterFailure<T extends WithRefusals>(
  { api, signal, events }: Context,
  part: Part,
  previous: T,
  error: unknown,
): Poll<T> {
  if (signal.aborted || !(error instanceof Error)) throw error;
  if (!isRefusal(error)) return { value: previous, failure: error };
  const refusal = afterRefusal(previous.refusals?.[part], error.reason, api.now());
  const value = { ...previous, refusals: { ...previous.refusals, [part]: refusal } };
  if (refusedUntil(value, part) === 0) return { value, failure: error };
  if (refusedUntil(previous, part) === 0) events.push({ type: 'part_refused', part, err: error.message });
  return { value };
}

function afterRefusal(before: Refusal | undefined, reason: string, now: UnixMs): Refusal {
  const isNext = before && mayPass(before.reason) === mayPass(reason);
  const { attempts, firstAt } = isNext ? before : { attempts: 0, firstAt: now };
  // A time in the future is from before the clock was set back.
  return { reason, attempts: attempts + 1, firstAt: Math.min(firstAt, now), lastAt: now };
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

/** The parts of a source that are on. */
export function partsOf(...parts: readonly Part[]): (value: WithRefusals) => PartState[] {
  return (value) => parts.map((part) => ({ part, isRefused: refusedUntil(value, part) > 0 }));
}
