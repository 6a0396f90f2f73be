import type { UnixMs } from '../lib/time.ts';
import { allowedPerDay, type Bucket, type BudgetOptions, windowAt } from './bucket.ts';
import { lastsUntil } from './long-window.ts';
import { keptForOthers } from './others.ts';
import { wholePerDay } from './quota.ts';

/**
 * Requests per day that this exporter lacks because others use the quota of the month. At most the pace of a full
 * quota: near its end, a quota that is mostly unused would allow a pace that nothing needs.
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
 * The share of the requests of this exporter that others take; 0: they take nothing that it could use. On a trial,
 * others that make 15 requests a day take half, and others that make 26 take nearly all.
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
