import { z } from 'zod';
import { type FailureReason, RequestFailed } from '../api/errors.ts';
import { MS_PER_DAY } from '../lib/duration.ts';
import type { UnixMs } from '../lib/time.ts';

/** Two ways to ask for the same, of which a service may know only one: what is known of them. Persisted. */
export const Alternatives = z.object({
  /** The way that is asked first. */
  first: z.string(),
  /** Unix ms at which it last answered; absent where it has not since the other was tried, or where that was not noted. */
  answeredAt: z.number().optional(),
  /** When the other way was last tried (Unix ms), and the failure of the first way that led to it. */
  tried: z.object({ at: z.number(), after: z.string() }).optional(),
});
export type Alternatives = z.infer<typeof Alternatives>;

/** What came of asking: an answer or a failure, and what is known after it. */
export interface Asked<T> {
  readonly known: Alternatives | undefined;
  readonly answer?: T;
  readonly failure?: RequestFailed;
  /** Requests that the next polls will not make. */
  readonly oneTimeRequests: number;
}

/**
 * Asks the first way, and in its place the other one where that may be tried. `isUsual`: it is the way that answers.
 * @throws what is no failure of a request
 */
export async function askEither<T>(
  ways: readonly string[],
  previous: Alternatives | undefined,
  now: UnixMs,
  ask: (way: string, isUsual: boolean) => Promise<T>,
): Promise<Asked<T>> {
  const known = previous && ways.includes(previous.first) ? previous : undefined;
  const [first, other] = inOrder(ways, known?.first);
  const one = await attempt(() => ask(first, known?.answeredAt !== undefined));
  if (!(one instanceof RequestFailed)) return { known: { first, answeredAt: now }, answer: one, oneTimeRequests: 0 };
  if (other === undefined || !mayTryOther(known, one.reason, now)) return { known, failure: one, oneTimeRequests: 0 };
  const two = await attempt(() => ask(other, false));
  if (!(two instanceof RequestFailed)) {
    return { known: { first: other, answeredAt: now }, answer: two, oneTimeRequests: 1 };
  }
  const tried = { at: now, after: one.reason };
  const isOtherLikely = weightOf(two.reason) > weightOf(one.reason);
  return {
    known: { first: isOtherLikely ? other : first, tried },
    failure: isOtherLikely ? two : one,
    oneTimeRequests: 1,
  };
}

async function attempt<T>(ask: () => Promise<T>): Promise<T | RequestFailed> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof RequestFailed) return error;
    throw error;
  }
}

function inOrder(ways: readonly string[], first = ways[0] ?? ''): readonly [first: string, other?: string] {
  const other = ways.find((way) => way !== first);
  return other === undefined ? [first] : [first, other];
}

/** In these ways a service answers what it does not know: a refusal, or a page of the gateway in front of it. */
const REFUSALS: readonly FailureReason[] = [
  'bad_request',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'unexpected_status',
  'invalid_body',
];

/** Whether the service may not know what it was asked for. Any other failure says nothing about that. */
export function isUnknownToService(error: unknown): boolean {
  return error instanceof RequestFailed && REFUSALS.includes(error.reason);
}

/**
 * Whether the other way may be tried in this poll: once a day while the first one does not answer. A way that answered
 * within a day is left only where it is not found any more. The first "not found" needs no day of waiting: an earlier
 * refusal may have come from a gateway that refused everything.
 */
export function mayTryOther(known: Alternatives | undefined, reason: FailureReason, now: UnixMs): boolean {
  if (!REFUSALS.includes(reason)) return false;
  const isNotFound = reason === 'not_found';
  const isFirstNotFound = isNotFound && known?.tried?.after !== 'not_found';
  if (isWithinDay(known?.tried?.at, now) && !isFirstNotFound) return false;
  return isNotFound || !isWithinDay(known?.answeredAt, now);
}

/** A time in the future, from before the clock was set back, is not waited for. */
function isWithinDay(at: UnixMs | undefined, now: UnixMs): boolean {
  return at !== undefined && Math.abs(now - at) < MS_PER_DAY;
}

/** How much a failure speaks for the way: nothing where that is not found, the most where it says nothing against it. */
function weightOf(reason: FailureReason): number {
  if (reason === 'not_found') return 0;
  return REFUSALS.includes(reason) ? 1 : 2;
}
