import type { Freshness } from '../api/endpoints.ts';
import { PASSING, RequestFailed } from '../api/errors.ts';
import type { Last, Read, Timing } from '../sources/read.ts';
import { MS_PER_HOUR, MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import { type Attempt, attemptOf, type Entry, withLatest } from './entry.ts';
import type { ReadPace } from './paces.ts';
import { confirmedAt, partOf, refusedUntil } from './refusals.ts';

const FIRST_RETRY_MS = MS_PER_MINUTE;
const LONGEST_RETRY_MS = 15 * MS_PER_MINUTE;
/** For a failure that may not pass by itself, such as a 400. */
const LASTING_RETRY_MS = MS_PER_HOUR;
const FORBIDDEN_PAUSE_MS = MS_PER_HOUR;
const ENDED_AFTER_MS = MS_PER_HOUR;
const ENDED_PAUSE_MS = MS_PER_HOUR;

/** When a read is due, whatever the budget permits. */
export interface Due {
  /** Infinity if nothing is left to read. */
  readonly at: UnixMs;
  /** Whether only the end of its interval makes it due: then it can wait for the first read of its source. */
  readonly isTick: boolean;
}

/** @param timing Of the read itself */
export function dueAt<T>(read: Read<T>, entry: Entry<T>, timing: Timing): Due {
  const attempt = attemptOf(entry, read);
  const { lastAttemptAt, durationMs, failuresInARow, pausedUntil = 0 } = attempt;
  const { now } = timing;
  if (lastAttemptAt === undefined) return { at: 0, isTick: false };
  // After the clock was set back, the next run by the old clock could be a day away.
  if (lastAttemptAt > now) return { at: now, isTick: false };
  const part = partOf(read.endpoints[0]);
  const earliest = Math.max(pausedUntil, refusedUntil(entry.refusals, part, now));
  if (attempt.isDueNow) return { at: earliest, isTick: false };
  const last: Last = { attemptAt: lastAttemptAt, durationMs, failuresInARow };
  // One interval after the start of the last run, or at once after a longer run. Missed ticks are dropped.
  const tick = lastAttemptAt + Math.max(timing.intervalMs, durationMs);
  const due = dueByData(read, entry.value, last, timing, tick);
  const retry = Math.min(retryAt(attempt, lastAttemptAt, timing), confirmedAt(entry.refusals, part) ?? Infinity);
  // Data that become due right after a failed attempt still wait a minute, or a shorter interval.
  const soonest = failuresInARow > 0 ? lastAttemptAt + Math.min(FIRST_RETRY_MS, timing.intervalMs) : 0;
  return { at: Math.max(Math.min(due, retry), soonest, earliest), isTick: due === tick && due < retry };
}

function dueByData<T>(read: Read<T>, value: T, last: Last, timing: Timing, tick: UnixMs): UnixMs {
  const { period, everyMs } = read;
  const from = period?.from(value, timing.now);
  if (period === undefined || from === undefined) return read.due?.(value, last, timing, tick) ?? tick;
  // New data do not shorten these intervals: the budget allows no shorter one, or the operator chose more than a period.
  const keepsInterval = timing.intervalMs > Math.min(everyMs, period.ms);
  const due = last.attemptAt < from && !keepsInterval ? from : Math.max(tick, from);
  // The period's end, which the service reports, may be wrong: a read is due an interval after a period at the latest.
  return Math.min(due, Math.max(tick, last.attemptAt + period.ms + everyMs));
}

/** When to retry, because the next data may be due only tomorrow. Infinity if the attempt did not fail. */
function retryAt({ failuresInARow, lastError }: Attempt, lastAttemptAt: UnixMs, timing: Timing): UnixMs {
  if (failuresInARow === 0) return Number.POSITIVE_INFINITY;
  const { intervalMs, isStretched } = timing;
  const reason = lastError?.reason ?? '';
  // The budget decides when to retry a refused key, and how long to wait after a 429.
  const isUpToBudget = reason === 'unauthorized' || reason === 'rate_limited';
  const doublings = isUpToBudget ? 0 : failuresInARow - 1;
  // An hourly read need not wait an hour for a failure that may pass in a minute.
  const mayPass = isUpToBudget || reason === 'BudgetClosed' || PASSING.includes(reason);
  const passesMs = Math.min(FIRST_RETRY_MS * 2 ** doublings, LONGEST_RETRY_MS);
  // A scarce budget cannot pay for an hourly request that may never work.
  const waitMs = mayPass ? passesMs : isStretched ? intervalMs : LASTING_RETRY_MS;
  return lastAttemptAt + Math.min(waitMs, intervalMs);
}

export interface Measured {
  /** When its round began. */
  readonly roundAt: UnixMs;
  readonly end: UnixMs;
  readonly durationMs: Milliseconds;
  /** Undefined if no limit was known. */
  readonly pace?: ReadPace | undefined;
  readonly requests: number;
  /** As its responses change it. */
  readonly freshness?: Freshness;
  /** By how much the clock was set since the round began. */
  readonly stepMs: Milliseconds;
  /** Undefined if the run succeeded, or the service refuses the read. */
  readonly failure?: Error | undefined;
  readonly isRefused?: boolean;
  /** Whether its first endpoint is one of v1 and was not found. */
  readonly isNotFound?: boolean;
}

/** A run during which the clock was set by more than this has looked for data at the wrong time. */
const MAX_STEP_MS = MS_PER_MINUTE;

export function afterRun(before: Attempt, measured: Measured): Attempt {
  const { roundAt, end, durationMs, requests, pace, failure, isRefused, isNotFound, stepMs, freshness } = measured;
  const { pausedUntil, isDueNow, notFoundSince = end, ...rest } = before;
  // Keeps the value, but the run may have missed data, and its end is unknown.
  if (!failure && Math.abs(stepMs) > MAX_STEP_MS) return { ...rest, lastAttemptAt: roundAt, isDueNow: true };
  const tried = { ...withPace(rest, pace), ...freshness, lastAttemptAt: roundAt, durationMs };
  if (!failure) {
    const { failingSince, ...others } = tried;
    if (isRefused) return { ...others, failuresInARow: 0 };
    const costs = withLatest(before.costs, requests);
    const durations = withLatest(before.durations, durationMs);
    return { ...others, failuresInARow: 0, lastSuccessAt: end, costs, durations };
  }
  const reason = failure instanceof RequestFailed ? failure.reason : failure.name;
  const failing: Attempt = {
    ...tried,
    failuresInARow: before.failuresInARow + 1,
    ...(before.failuresInARow === 0 && { failingSince: end }),
    lastError: { at: end, reason, message: failure.message },
    // A time in the future is from before the clock was set back.
    ...(isNotFound && before.lastSuccessAt !== undefined && { notFoundSince: Math.min(notFoundSince, end) }),
  };
  const pauseMs = hasEnded(failing) ? ENDED_PAUSE_MS : pauseAfter(failure);
  return { ...failing, ...(pauseMs > 0 && { pausedUntil: end + pauseMs }) };
}

/** Whether the service lacks for an hour what it used to have. */
export function hasEnded({ notFoundSince, lastError }: Attempt): boolean {
  return notFoundSince !== undefined && lastError !== undefined && lastError.at - notFoundSince >= ENDED_AFTER_MS;
}

/** If no limit was known, the last known pace stays. */
function withPace(attempt: Attempt, pace: ReadPace | undefined): Attempt {
  if (!pace) return attempt;
  const { isStretched: _, ...others } = attempt;
  return { ...others, intervalMs: pace.intervalMs, ...(pace.isStretched && { isStretched: true }) };
}

/** How long the read pauses after a failure, whatever its interval. */
function pauseAfter(failure: Error): Milliseconds {
  if (!(failure instanceof RequestFailed)) return 0;
  // The plan lacks this endpoint; other reads continue. The refusal of an optional part must be confirmed first.
  const isPart = partOf(failure.endpoint) !== undefined;
  return failure.reason === 'forbidden' && !isPart ? FORBIDDEN_PAUSE_MS : failure.waitMs;
}
