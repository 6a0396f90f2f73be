import * as z from 'zod';
import { type FailureReason, KEY_REFUSALS, RequestFailed } from '../api/errors.ts';
import { MS_PER_DAY } from '../lib/duration.ts';
import type { UnixMs } from '../lib/time.ts';
import { REFUSALS } from './refusal.ts';

/** What is known of two ways to request the same data, of which a service may know only one. Persisted. */
export const Alternatives = z.object({
  /** The way that is tried first. */
  first: z.string(),
  /**
   * Unix ms at which it last succeeded; absent if it has not succeeded since the other way was tried, or if this was
   * not recorded.
   */
  answeredAt: z.number().optional(),
  /**
   * When both ways were last tried (Unix ms), and how the first one failed then; no failure once a way has succeeded.
   */
  tried: z.object({ at: z.number(), after: z.string().optional() }).optional(),
});
export type Alternatives = z.infer<typeof Alternatives>;

interface Question {
  /** The way of the specification first. */
  readonly ways: readonly [string, string?];
  /** The first way is preferred: if the second one works, the first one is tried again once a day. */
  readonly prefersFirst?: boolean;
  readonly previous: Alternatives | undefined;
  readonly now: UnixMs;
  readonly signal: AbortSignal;
}

/** The result: a response or a failure, and the updated knowledge of the ways. */
export interface Asked<T> {
  readonly known: Alternatives | undefined;
  readonly answer?: T;
  readonly failure?: RequestFailed;
  /** Requests that the next polls will not make. */
  readonly oneTimeRequests: number;
}

/** Sends the request in one way. `isUsual`: this way is known to work. */
type Ask<T> = (way: string, isUsual: boolean) => Promise<T>;

/**
 * Asks in the first way, and in the other one where that may be tried in its place.
 * @throws what is no failure of a request
 */
export async function askEither<T>(question: Question, ask: Ask<T>): Promise<Asked<T>> {
  const { ways, now, signal, previous } = question;
  const known = previous && ways.includes(previous.first) ? previous : undefined;
  const attempt: Ask<T | RequestFailed> = async (way, isUsual) => {
    try {
      return await ask(way, isUsual);
    } catch (error) {
      if (signal.aborted || !(error instanceof RequestFailed)) throw error;
      return error;
    }
  };
  if (known && isBetterDue(question, known)) return askBetterFirst(known, ways[0], now, attempt);
  const [first = '', other] = known?.first === ways[1] ? ways.toReversed() : ways;
  const one = await attempt(first, known?.answeredAt !== undefined);
  if (!(one instanceof RequestFailed)) return answered(one, afterAnswer(known, first, now));
  if (other === undefined || !mayTryOther(known, one.reason, now)) return { known, failure: one, oneTimeRequests: 0 };
  const two = await attempt(other, false);
  if (!(two instanceof RequestFailed)) return answered(two, { first: other, answeredAt: now, tried: { at: now } }, 1);
  // A way that has worked exists, and an outage can look like any failure.
  const isOtherLikely = known?.answeredAt === undefined && weightOf(two.reason) > weightOf(one.reason);
  const [likely, failure] = isOtherLikely ? [other, two] : [first, one];
  return { known: { first: likely, tried: { at: now, after: failure.reason } }, failure, oneTimeRequests: 1 };
}

/** Tries the preferred way, and then the usual one, unless the key is refused. */
async function askBetterFirst<T>(
  known: Alternatives,
  better: string,
  now: UnixMs,
  attempt: Ask<T | RequestFailed>,
): Promise<Asked<T>> {
  const one = await attempt(better, false);
  if (!(one instanceof RequestFailed)) return answered(one, { first: better, answeredAt: now });
  // The budget is closed now, and another request would only hide the reason.
  if (KEY_REFUSALS.includes(one.reason)) return { known, failure: one, oneTimeRequests: 0 };
  const two = await attempt(known.first, true);
  const after = { first: known.first, tried: { at: now } };
  if (!(two instanceof RequestFailed)) return answered(two, { ...after, answeredAt: now }, 1);
  const { answeredAt } = known;
  const isRecent = isWithinDay(answeredAt, now);
  return { known: { ...after, ...(isRecent && { answeredAt }) }, failure: two, oneTimeRequests: 1 };
}

function answered<T>(answer: T, known: Alternatives, oneTimeRequests = 0): Asked<T> {
  return { known, answer, oneTimeRequests };
}

function afterAnswer(known: Alternatives | undefined, first: string, now: UnixMs): Alternatives {
  return { first, answeredAt: now, ...(known?.tried && { tried: { at: known.tried.at } }) };
}

/** Whether to try the preferred way again, although the other one works. */
function isBetterDue({ ways, prefersFirst = false, now }: Question, known: Alternatives): boolean {
  return (
    prefersFirst && known.answeredAt !== undefined && known.first === ways[1] && !isWithinDay(known.tried?.at, now)
  );
}

/**
 * The failures with which a service rejects what it does not know: a refusal, or a page of the gateway in front of it.
 */
const UNKNOWN: readonly FailureReason[] = [...REFUSALS, 'unexpected_status', 'invalid_body'];

/** Whether the failure can mean that the service does not know the request. Other failures say nothing about this. */
export function isUnknownToService(error: unknown): boolean {
  return error instanceof RequestFailed && UNKNOWN.includes(error.reason);
}

/** A gateway may respond like this if it cannot route a path. */
const DOWN: readonly FailureReason[] = ['server_error', 'timeout', 'network'];

/**
 * Whether the other way may be asked in this poll, once a day at most:
 * - after "not found", or after another refusal if the first way has not answered for a day;
 * - after an outage, if both ways were asked and neither has answered since.
 * It may be asked again on the same day after a worse failure: "not found" after a refusal, a refusal after an outage.
 */
export function mayTryOther(known: Alternatives | undefined, reason: FailureReason, now: UnixMs): boolean {
  const { answeredAt, tried } = known ?? {};
  const isTriedToday = isWithinDay(tried?.at, now);
  if (DOWN.includes(reason)) return tried !== undefined && answeredAt === undefined && !isTriedToday;
  if (!UNKNOWN.includes(reason)) return false;
  const isNotFound = reason === 'not_found';
  const isWorse = tried?.after === undefined ? isNotFound : weightOf(reason) < weightOf(tried.after as FailureReason);
  if (isTriedToday && !isWorse) return false;
  return isNotFound || !isWithinDay(answeredAt, now);
}

/** A time more than a day in the future is from before the clock was set back, and is not waited for. */
function isWithinDay(at: UnixMs | undefined, now: UnixMs): boolean {
  return at !== undefined && Math.abs(now - at) < MS_PER_DAY;
}

/** Ranks failures. 0: the way is not found. 1: it is refused. 2: the failure says nothing about it. */
function weightOf(reason: FailureReason): number {
  if (reason === 'not_found') return 0;
  return UNKNOWN.includes(reason) ? 1 : 2;
}
