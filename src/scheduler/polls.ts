import { ENDPOINTS } from '../api/endpoints.ts';
import { PASSING, RequestFailed } from '../api/errors.ts';
import type { Pace, Poll, Source, Timing } from '../sources/source.ts';
import { MS_PER_HOUR, MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import { type Entry, withLatest } from './entry.ts';

const FIRST_RETRY_MS = MS_PER_MINUTE;
const FORBIDDEN_PAUSE_MS = MS_PER_HOUR;

/** When a source may be polled: it is due, its pause is over, and its requests may be sent. */
export function nextPollAt(source: Source, entry: Entry, timing: Timing, permittedAt: UnixMs): UnixMs {
  // After the clock was set back, the time at which the next poll was due by the old clock could be a day away.
  if ((entry.lastAttemptAt ?? 0) > timing.now) return Math.max(timing.now, permittedAt);
  return Math.max(dueAt(source, entry, timing), entry.pausedUntil ?? 0, permittedAt);
}

function dueAt(source: Source, entry: Entry, timing: Timing): UnixMs {
  const { lastAttemptAt, failuresInARow } = entry;
  if (lastAttemptAt === undefined || entry.isDueNow) return 0;
  const due = source.due(entry.value, { ...entry, lastAttemptAt }, timing);
  if (failuresInARow === 0) return due;
  // The next data may be due only tomorrow. A poll that failed is repeated before.
  const { reason = '' } = entry.lastError ?? {};
  // The budget decides when a refused key is tried again, and how long to wait after a 429.
  const isUpToBudget = reason === 'unauthorized' || reason === 'rate_limited';
  const doublings = isUpToBudget ? 0 : failuresInARow - 1;
  // An hourly source need not wait an hour for what may be over in a minute.
  const mayPass = isUpToBudget || PASSING.includes(reason);
  const retryMs = mayPass ? FIRST_RETRY_MS * 2 ** doublings : timing.intervalMs;
  // If data become due right after a poll that failed, they still wait a minute, or the interval if that is shorter.
  return Math.max(Math.min(due, lastAttemptAt + retryMs), lastAttemptAt + Math.min(FIRST_RETRY_MS, timing.intervalMs));
}

/** The measurements of one poll. */
export interface Measured {
  readonly start: UnixMs;
  readonly durationMs: Milliseconds;
  /** The effective interval at its start, and what it covered; undefined: no limit was known. */
  readonly pace?: Pick<Pace, 'intervalMs' | 'coverage'> | undefined;
  readonly requests: number;
  /** By how much the clock was set meanwhile. */
  readonly stepMs?: Milliseconds;
}

/** A poll during which the clock was set by more than this has looked for data at the wrong time. */
const MAX_STEP_MS = MS_PER_MINUTE;

/** The entry after a poll. */
export function afterPoll(entry: Entry, poll: Poll<unknown>, measured: Measured): Entry {
  const { value, failure } = poll;
  const { start, durationMs, requests, pace } = measured;
  const { pausedUntil, isDueNow, ...rest } = entry;
  // Nothing was asked, so it is not known whether the cause of the failures before is over.
  if (!failure && requests === 0 && entry.failuresInARow > 0) return { ...rest, value, lastAttemptAt: start };
  // Its values are kept. The poll is repeated at once, because it may have missed data, and its end is not known.
  if (!failure && Math.abs(measured.stepMs ?? 0) > MAX_STEP_MS) {
    return { ...rest, value, lastAttemptAt: start, isDueNow: true };
  }
  const tried = { ...rest, value, lastAttemptAt: start, durationMs };
  const end = start + durationMs;
  if (!failure) {
    const { failingSince, ...succeeded } = tried;
    const costs = withLatest(entry.costs, requests);
    const durations = withLatest(entry.durations, durationMs);
    return { ...succeeded, ...pace, failuresInARow: 0, lastSuccessAt: end, costs, durations };
  }
  const reason = failure instanceof RequestFailed ? failure.reason : failure.name;
  const pauseMs = pauseAfter(failure);
  return {
    ...tried,
    ...pace,
    failuresInARow: entry.failuresInARow + 1,
    ...(entry.failuresInARow === 0 ? { failingSince: end } : {}),
    lastError: { at: end, reason, message: failure.message },
    ...(pauseMs > 0 && { pausedUntil: end + pauseMs }),
  };
}

/** How long the source pauses, whatever its interval. */
function pauseAfter(failure: Error): Milliseconds {
  if (!(failure instanceof RequestFailed)) return 0;
  // The plan does not include this endpoint; the other sources continue. An optional part does not pause its source.
  const isPart = ENDPOINTS[failure.endpoint].part !== undefined;
  return failure.reason === 'forbidden' && !isPart ? FORBIDDEN_PAUSE_MS : failure.waitMs;
}

/** The data of a day may be some hours late. */
const PATIENT_POLLS = 6;

/** Whether the data of a source has been due for so many intervals, for example because the plan does not include it. */
export function isOverdue(source: Source, { value, lastAttemptAt }: Entry, now: UnixMs): boolean {
  const { intervalMs, isNeverOverdue = false } = source;
  if (isNeverOverdue) return false;
  const since = now - PATIENT_POLLS * intervalMs;
  const attempts = { lastAttemptAt: since - intervalMs, failuresInARow: 0, durationMs: 0 };
  return lastAttemptAt !== undefined && source.due(value, attempts, { now, intervalMs, coverage: 'full' }) <= since;
}
