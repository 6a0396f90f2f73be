import { MS_PER_DAY, MS_PER_HOUR } from '../lib/duration.ts';
import type { UnixMs } from '../lib/time.ts';
import { type Bucket, type BudgetOptions, perSecondOf, windowAt } from './bucket.ts';
import { calendarEnd, type LongWindow, lastsUntil, usable } from './long-window.ts';
import { keptForOthers } from './others.ts';
import { BudgetClosed } from './permit.ts';

/** What the polls of a bucket cost at their configured intervals. */
export interface Needs {
  readonly perDay: number;
  /** Requests that may all be due at once. */
  readonly atOnce: number;
}

/** What the polls leave of a bucket. */
export interface Spare {
  /** Requests per second, after `utilization`. */
  readonly perSecond: number;
  /** Requests of this hour and month, if the plan limits them. */
  readonly hour?: number;
  readonly month?: number;
}

/**
 * The minimum share of the rate and of the hour. Without it, a backfill would wait forever if the polls use everything.
 */
const MIN_SHARE = 0.1;

/**
 * What the polls leave until the limits renew. The month has 0 left if the polls are stretched, because they then use
 * everything.
 */
export function spareOf(bucket: Bucket, needs: Needs, options: BudgetOptions, now: UnixMs): Spare {
  const rate = perSecondOf(bucket, options) * options.utilization;
  const hour = windowAt(bucket, 'hour', options, now);
  const month = windowAt(bucket, 'month', options, now);
  return {
    perSecond: Math.max(rate * MIN_SHARE, rate - (needs.perDay * 1000) / MS_PER_DAY),
    ...(hour && { hour: hourBeside(hour, needs, options) }),
    ...(month && { month: monthBeside(month, bucket, needs, options, now) }),
  };
}

/** The need of a full hour is reserved at any time of the hour, because polls come in bursts. */
function hourBeside(hour: LongWindow, { perDay, atOnce }: Needs, { utilization }: BudgetOptions): number {
  const needed = atOnce + (perDay * MS_PER_HOUR) / MS_PER_DAY;
  return whole(usable(hour, utilization) - Math.min(needed, hour.limit * utilization * (1 - MIN_SHARE)));
}

function monthBeside(
  month: LongWindow,
  bucket: Bucket,
  { perDay, atOnce }: Needs,
  { utilization }: BudgetOptions,
  now: UnixMs,
): number {
  const end = lastsUntil('month', month, bucket.firstUseAt ?? now);
  const forAll = (month.remaining ?? Number.POSITIVE_INFINITY) - keptForOthers(bucket.others, end);
  const ours = Math.min(usable(month, utilization), forAll);
  return whole(ours - atOnce - (perDay * (end - now)) / MS_PER_DAY);
}

function whole(requests: number): number {
  return Math.max(0, Math.floor(requests));
}

/** The month has requests left, but until it renews the polls need them. */
export class QuotaKept extends BudgetClosed {}

/**
 * Whether a backfill request must wait for the limits to renew; undefined: it may be sent. `isAgreed`: it may use what
 * the polls need of the month. It may never use what they need of the hour, because waiting for the next hour is cheap.
 */
export function closedBeside(
  { hour = 1, month = 1 }: Spare,
  bucket: Bucket,
  isAgreed: boolean,
  options: BudgetOptions,
  now: UnixMs,
): BudgetClosed | undefined {
  const window = windowAt(bucket, 'month', options, now);
  if (month < 1 && !isAgreed && window) {
    return new QuotaKept(lastsUntil('month', window, bucket.firstUseAt ?? now));
  }
  return hour < 1 ? new BudgetClosed(calendarEnd('hour', now)) : undefined;
}
