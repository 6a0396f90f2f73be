import { type FailureReason, RequestFailed } from '../api/errors.ts';
import type { Milliseconds, UnixMs } from '../lib/time.ts';
import type { Coverage, Poll, Source, Timing } from '../sources/source.ts';
import { type Entry, withLatest } from '../state/entry.ts';

const FIRST_RETRY_MS = 60_000;
const FORBIDDEN_PAUSE_MS = 3_600_000;

/** When a source may be polled: it is due, its pause is over, and its requests may be sent (`opensAt`). */
export function nextAttemptAt(source: Source, entry: Entry, timing: Timing, opensAt: UnixMs): UnixMs {
  // The last attempt was before the clock was set back. Waiting for its recorded time could take a day.
  if (entry.lastAttemptAt !== undefined && entry.lastAttemptAt > timing.now) return Math.max(timing.now, opensAt);
  return Math.max(dueAt(source, entry, timing), entry.pausedUntil ?? 0, opensAt);
}

function dueAt(source: Source, entry: Entry, timing: Timing): UnixMs {
  const { lastAttemptAt, failuresInARow } = entry;
  if (lastAttemptAt === undefined || entry.isDueNow) return 0;
  const due = source.due(entry.value, entry, timing);
  if (failuresInARow === 0) return due;
  // A source that follows its data may have been polled before that was due, for example because the clock was set.
  const retryMs = isPassing(entry.lastError?.reason) ? FIRST_RETRY_MS * 2 ** (failuresInARow - 1) : timing.intervalMs;
  // Its data can become due right after an attempt that failed. It still waits a minute, or its interval if that is shorter.
  return Math.max(Math.min(due, lastAttemptAt + retryMs), lastAttemptAt + Math.min(FIRST_RETRY_MS, timing.intervalMs));
}

/** Whether the failure may be over in a minute, so that an hourly source need not wait an hour. */
function isPassing(reason: string | undefined): boolean {
  return (['network', 'timeout', 'server_error'] satisfies FailureReason[] as string[]).includes(reason ?? '');
}

/** The measurements of one poll. */
export interface Run {
  readonly start: UnixMs;
  readonly durationMs: Milliseconds;
  /** The effective interval at its start, and what it covered; absent if no limit was known. */
  readonly intervalMs?: Milliseconds;
  readonly coverage?: Coverage;
  readonly requests: number;
}

/** The entry after a poll. */
export function afterPoll(entry: Entry, poll: Poll<unknown>, run: Run): Entry {
  const { value, failure, oneTimeRequests = 0 } = poll;
  const { start, durationMs, requests, intervalMs, coverage } = run;
  const paced = {
    ...(intervalMs === undefined ? {} : { intervalMs }),
    ...(coverage === undefined ? {} : { coverage }),
  };
  const { pausedUntil, isDueNow, ...rest } = entry;
  // Nothing was asked, so it is not known whether the cause of the failures before is over.
  if (!failure && requests === 0 && entry.failuresInARow > 0) return { ...rest, value, lastAttemptAt: start };
  const tried = {
    ...rest,
    value,
    lastAttemptAt: start,
    durationMs,
  };
  const end = start + durationMs;
  if (!failure) {
    const { failingSince, intervalMs: _interval, coverage: _coverage, ...succeeded } = tried;
    const costs = withLatest(entry.costs, requests - oneTimeRequests);
    const durations = withLatest(entry.durations, durationMs);
    // The value is not that of an earlier poll any more, which may have been at the interval of another account.
    return { ...succeeded, ...paced, failuresInARow: 0, lastSuccessAt: end, costs, durations };
  }
  return {
    ...tried,
    ...paced,
    failuresInARow: entry.failuresInARow + 1,
    ...(entry.failuresInARow === 0 ? { failingSince: end } : {}),
    lastError: { at: end, reason: reasonOf(failure), message: failure.message },
    // The plan does not include this endpoint; the other sources continue.
    ...(reasonOf(failure) === 'forbidden' ? { pausedUntil: end + FORBIDDEN_PAUSE_MS } : {}),
  };
}

/** Failures that the service does not charge for (api-facts 6.1), or that it never saw. */
const FREE = ['network', 'timeout', 'server_error', 'rate_limited', 'revoked', 'unauthorized', 'BudgetClosed'];

/**
 * The entry after a poll of a daily source. Counts the polls in a row that did not find the data of the day, after
 * which the source is due again at its configured interval.
 */
export function countEmptyPoll(source: Source, entry: Entry, timing: Timing): Entry {
  if (!source.isDaily || (entry.failuresInARow > 0 && FREE.includes(entry.lastError?.reason ?? ''))) return entry;
  const { lastAttemptAt = 0, vainInARow = 0 } = entry;
  const { intervalMs } = source;
  const due = source.due(entry.value, entry, { ...timing, intervalMs });
  return { ...entry, vainInARow: due <= lastAttemptAt + intervalMs ? vainInARow + 1 : 0 };
}

/** The data of a day may be some hours late. */
const PATIENT_POLLS = 6;

/** Whether a daily source has polled so often without finding its data that it is planned like any other source. */
export function isDataOverdue({ vainInARow = 0 }: Entry): boolean {
  return vainInARow > PATIENT_POLLS;
}

function reasonOf(failure: Error): string {
  return failure instanceof RequestFailed ? failure.reason : failure.name;
}
