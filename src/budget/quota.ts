import { MS_PER_DAY } from '../lib/duration.ts';
import type { UnixMs } from '../lib/time.ts';
import { allowedPerDay, type Bucket, type BudgetOptions, bucketOpensAt, windowAt } from './bucket.ts';
import { LONG_WINDOWS, lastsUntil, monthStart, usable } from './long-window.ts';

/** What is left of one bucket beyond the second, and until when. Times are Unix ms. */
export interface Quota {
  /** Nothing may leave before, because nothing is left or a 429 said so; in the past: something may. */
  readonly opensAt: UnixMs;
  /** What a wait is for: the window that is used up, a 429, or else the month, of which little may be left. */
  readonly limit: 'hour' | 'month' | '429';
  /** Requests that this exporter may still spend of it, and of a whole one; Infinity: the plan has none. */
  readonly left: number;
  readonly whole: number;
  /** When there is a whole quota again; Infinity: the plan has none. */
  readonly renewsAt: UnixMs;
  /** When one request may leave all the same, to ask whether there is more by now. */
  readonly probeAt: UnixMs;
  /** Requests per day that a whole quota leaves this exporter. */
  readonly wholePerDay: number;
}

/** The quota of a bucket, as far as the bucket itself says. */
export function quotaOf(bucket: Bucket, options: BudgetOptions, now: UnixMs): Quota {
  const month = windowAt(bucket, 'month', options, now);
  const opensAt = bucketOpensAt(bucket, options, now);
  const spent = LONG_WINDOWS.findLast((name) => {
    const window = windowAt(bucket, name, options, now);
    return window && usable(window, options.utilization) < 1;
  });
  const ends = month ? lastsUntil('month', month, bucket.firstUseAt ?? now) : Number.POSITIVE_INFINITY;
  return {
    opensAt,
    limit: spent ?? (opensAt > now ? '429' : 'month'),
    left: month ? usable(month, options.utilization) : Number.POSITIVE_INFINITY,
    whole: month ? usable({ limit: month.limit, own: 0, since: now }, options.utilization) : Number.POSITIVE_INFINITY,
    renewsAt: opensAt > now ? opensAt : ends,
    probeAt: bucketProbeAt(bucket),
    wholePerDay: wholePerDay(bucket, options, now),
  };
}

/**
 * Unix ms from which one request may leave although nothing is left by our count: a larger plan shows only in an answer.
 * After a 429 the service itself has said until when to wait, and that may be cut by a second.
 */
export function bucketProbeAt({ closedUntil, lastUseAt = 0 }: Bucket): UnixMs {
  return Math.max(closedUntil, lastUseAt) + MS_PER_DAY;
}

function wholePerDay(bucket: Bucket, options: BudgetOptions, now: UnixMs): number {
  const month = windowAt(bucket, 'month', options, now);
  if (!month) return allowedPerDay(bucket, options, now);
  const since = monthStart(now);
  return allowedPerDay({ ...bucket, firstUseAt: since, month: { limit: month.limit, own: 0, since } }, options, since);
}
