import { MS_PER_DAY } from '../lib/duration.ts';
import type { UnixMs } from '../lib/time.ts';
import { allowedPerDay, type Bucket, type BudgetOptions, bucketOpensAt, windowAt } from './bucket.ts';
import { LONG_WINDOWS, lastsUntil, monthStart, usable } from './long-window.ts';

/** What is left of the hour and month of one bucket, and until when. */
export interface Quota {
  /** No request may be sent before this, because nothing is left or after a 429. In the past: requests may be sent. */
  readonly opensAt: UnixMs;
  /** The reason for a wait: the window that is used up, a 429, or otherwise the month, of which little may be left. */
  readonly limit: 'hour' | 'month' | '429';
  /** Requests that this exporter may still make, and those of a full quota; Infinity: the plan has no quota. */
  readonly left: number;
  readonly whole: number;
  /** When the full quota is available again; Infinity: the plan has no quota. */
  readonly renewsAt: UnixMs;
  /** When one request may be sent although nothing is left, to learn whether there is more. */
  readonly probeAt: UnixMs;
  /** Requests per day that a full quota allows this exporter. */
  readonly wholePerDay: number;
}

/** The quota of a bucket, regardless of the key. */
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
 * When one request may be sent although nothing is left by our count, because only an answer shows a larger plan: a day
 * after the last request, and a day after the end of a wait that a 429 demanded.
 */
export function bucketProbeAt({ closedUntil, lastUseAt = 0 }: Bucket): UnixMs {
  return Math.max(closedUntil, lastUseAt) + MS_PER_DAY;
}

/** Requests per day that a full quota allows this exporter. */
export function wholePerDay(bucket: Bucket, options: BudgetOptions, now: UnixMs): number {
  const month = windowAt(bucket, 'month', options, now);
  if (!month) return allowedPerDay(bucket, options, now);
  const since = monthStart(now);
  return allowedPerDay({ ...bucket, firstUseAt: since, month: { limit: month.limit, own: 0, since } }, options, since);
}
