import type { Quota } from '../budget/quota.ts';
import type { Entry } from '../snapshot/snapshot.ts';
import { type Coverage, MS_PER_DAY, type Pace, type Source } from '../sources/source.ts';
import { nextAttemptAt } from './plan.ts';

/** How a source runs now. Times are Unix ms. */
export interface Schedule {
  /** As the budget allows it; of a source that waits for the quota, the last one that the budget allowed. */
  readonly pace: Pace;
  /** The slowest interval that is a pace, milliseconds. */
  readonly slowestMs: number;
  /** When the next attempt is due and permitted; Infinity: not without the operator. */
  readonly nextAttemptAt: number;
  /** When a poll may ask before that whether more is left by now; Infinity: never. */
  readonly asksAt: number;
  readonly wait?: Wait;
}

/** A source is due, and what is left of the quota keeps it waiting for longer than its interval. */
export interface Wait {
  readonly until: number;
  readonly limit: Quota['limit'];
}

/** What decides how a source runs. */
export interface Standing {
  readonly source: Source;
  readonly entry: Entry;
  /** What the budget leaves it now, and what it would get of a whole quota. */
  readonly planned: Pace;
  readonly whole: Pace;
  readonly quota: Quota;
  /** When its requests may leave, key and bucket together. */
  readonly opensAt: number;
}

/** Others on the account may take half of the quota before what is left is no pace any more. */
const SLOWER_THAN_WHOLE = 2;

/**
 * Less than a poll a day is no pace, unless a whole quota would give hardly more: then the source waits for the quota, and
 * its values go as they do in an outage.
 */
export function scheduleOf(standing: Standing, now: number): Schedule {
  const { source, entry, planned, whole, quota, opensAt } = standing;
  const slowestMs = Math.max(MS_PER_DAY, SLOWER_THAN_WHOLE * whole.intervalMs);
  const nextAt = (pace: Interval, permittedAt: number): number =>
    nextAttemptAt(source, entry, { now, ...pace }, permittedAt);
  if (planned.intervalMs <= slowestMs && quota.opensAt <= now + planned.intervalMs) {
    return { pace: planned, slowestMs, nextAttemptAt: nextAt(planned, opensAt), asksAt: Number.POSITIVE_INFINITY };
  }
  const last = lastPace(entry, slowestMs, whole);
  const pace: Pace = { ...last, requestsPerDay: quota.opensAt > now ? 0 : planned.requestsPerDay };
  const next = Math.min(nextAt(planned, opensAt), nextAt(last, Math.max(opensAt, quota.renewsAt)));
  const due = nextAt(last, 0) || now;
  // A refused or revoked key closes what a quota leaves open.
  const isKeyClosed = opensAt > Math.max(now, quota.opensAt);
  const isWaiting = !isKeyClosed && next > due + last.intervalMs;
  return {
    pace,
    slowestMs,
    nextAttemptAt: next,
    asksAt: isWaiting ? Math.max(due, quota.asksAt) : Number.POSITIVE_INFINITY,
    ...(isWaiting ? { wait: { until: next, limit: quota.limit } } : {}),
  };
}

interface Interval {
  readonly intervalMs: number;
  readonly coverage: Coverage;
}

/** That of the last poll, if it had one. */
function lastPace({ intervalMs, coverage }: Entry, slowestMs: number, whole: Pace): Interval {
  if (intervalMs === undefined || intervalMs > slowestMs) return whole;
  return { intervalMs, coverage: coverage ?? whole.coverage };
}
