import type { UnixMs } from '../lib/time.ts';
import { allowedPerDay, type Bucket, type BudgetOptions, windowAt } from './bucket.ts';
import { lastsUntil } from './long-window.ts';
import { keptForOthers } from './others.ts';
import { wholePerDay } from './quota.ts';

/**
 * Requests per day that this exporter lacks because others use the quota of the month. Measured against the pace of a
 * whole quota: a quota of which this exporter has left much near its end would allow a pace that nothing needs.
 */
export function takenPerDay(bucket: Bucket, options: BudgetOptions, now: UnixMs): number {
  const month = windowAt(bucket, 'month', options, now);
  if (!month) return 0;
  const { others: _, ...rest } = bucket;
  const { remaining: __, ...own } = month;
  const alone = allowedPerDay({ ...rest, month: own }, options, now);
  return Math.max(0, Math.min(alone, wholePerDay(bucket, options, now)) - allowedPerDay(bucket, options, now));
}

/**
 * What others take of the requests that this exporter would have without them; 0: nothing that it could use. With 15
 * requests a day by others it is half of those of a trial, and with 26 nearly all.
 */
export function takenShare(bucket: Bucket, options: BudgetOptions, now: UnixMs): number {
  const taken = takenPerDay(bucket, options, now);
  return taken === 0 ? 0 : taken / (taken + allowedPerDay(bucket, options, now));
}

/** Requests of the month that others are expected to make until it renews, as far as any are left. */
export function reservedForOthers(bucket: Bucket, options: BudgetOptions, now: UnixMs): number {
  const month = windowAt(bucket, 'month', options, now);
  if (month?.remaining === undefined) return 0;
  const end = lastsUntil('month', month, bucket.firstUseAt ?? now);
  return Math.min(month.remaining, keptForOthers(bucket.others, end));
}
