import type { Quota } from '../budget/quota.ts';
import { MS_PER_DAY } from '../lib/duration.ts';
import type { Milliseconds, UnixMs } from '../lib/time.ts';
import type { Coverage, Pace, Source } from '../sources/source.ts';
import { type Entry, requestsPerPoll } from '../state/entry.ts';
import { nextAttemptAt } from './plan.ts';

/** How a source runs now. Times are Unix ms. */
export interface Schedule {
  /** As the budget allows it; of a source for which that is no pace, the last one that was. */
  readonly pace: Pace;
  /** When the next attempt is due and permitted; Infinity: not before a new key or a restart. */
  readonly nextAttemptAt: UnixMs;
  /** When one poll may ask before that whether more is left by now; Infinity: never. */
  readonly probeAt: UnixMs;
  readonly wait?: Wait;
}

/** What is left of the quota keeps a source waiting for longer than its interval after it is due. */
export interface Wait {
  readonly until: UnixMs;
  readonly limit: Quota['limit'];
}

/** What decides how a source runs. */
export interface ScheduleInput {
  readonly source: Source;
  readonly entry: Entry;
  /** What the budget allows it now. */
  readonly planned: Pace;
  /** What a whole quota would allow it. */
  readonly whole: () => Pace;
  readonly quota: Quota;
  /** When its requests may leave, key and quota together. */
  readonly opensAt: UnixMs;
}

/** Times the interval that a whole quota allows: others on the account may take half of the quota. */
const SLOWER_THAN_WHOLE = 2;

/** Less than a poll a day is no pace, unless a whole quota allows hardly more. */
export function isUsableInterval(intervalMs: Milliseconds, whole: () => Pace): boolean {
  return intervalMs <= MS_PER_DAY || intervalMs <= SLOWER_THAN_WHOLE * whole().intervalMs;
}

/** A source that is left with less than a pace waits: however long that takes, its interval and staleness stay. */
export function scheduleOf(input: ScheduleInput, now: UnixMs): Schedule {
  const { source, entry, planned, whole, quota } = input;
  const carriesAt = carriesPollAt(quota, entry);
  const opensAt = Math.max(input.opensAt, carriesAt);
  const nextAt = (pace: Cadence, permittedAt: UnixMs): UnixMs =>
    nextAttemptAt(source, entry, { now, ...pace }, permittedAt);
  if (carriesAt <= now + planned.intervalMs && isUsableInterval(planned.intervalMs, whole)) {
    return { pace: planned, nextAttemptAt: nextAt(planned, opensAt), probeAt: Number.POSITIVE_INFINITY };
  }
  const last = lastPace(entry, whole);
  const pace: Pace = { ...last, requestsPerDay: carriesAt > now ? 0 : planned.requestsPerDay };
  const next = Math.min(nextAt(planned, opensAt), nextAt(last, Math.max(opensAt, quota.renewsAt)));
  const due = nextAt(last, 0) || now;
  // A refused or revoked key closes what the quota leaves open.
  const isKeyClosed = input.opensAt > Math.max(now, quota.opensAt);
  if (isKeyClosed || next <= due + last.intervalMs) {
    return { pace, nextAttemptAt: next, probeAt: Number.POSITIVE_INFINITY };
  }
  const wait: Wait = { until: next, limit: quota.limit };
  return { pace, nextAttemptAt: next, probeAt: Math.max(due, quota.probeAt), wait };
}

/**
 * When the quota carries a whole poll. One that began with less would end in the middle: it would fail, and take what other
 * sources can still use.
 */
function carriesPollAt({ opensAt, left, whole, renewsAt }: Quota, entry: Entry): UnixMs {
  const needed = Math.min(requestsPerPoll(entry), whole);
  return left < needed ? Math.max(opensAt, renewsAt) : opensAt;
}

type Cadence = { readonly intervalMs: Milliseconds; readonly coverage: Coverage };

/** That of the last poll, where that had one. */
function lastPace({ intervalMs, coverage }: Entry, whole: () => Pace): Cadence {
  if (intervalMs === undefined || !isUsableInterval(intervalMs, whole)) return whole();
  return { intervalMs, coverage: coverage ?? whole().coverage };
}
