import * as z from 'zod';
import { MS_PER_DAY } from '../lib/duration.ts';
import type { Milliseconds, UnixMs } from '../lib/time.ts';
import { type Observation, WINDOWS, type WindowName } from './headers.ts';
import {
  charge,
  LONG_WINDOWS,
  LongWindow,
  type LongWindowName,
  lastsUntil,
  refund,
  renewsAt,
  report,
  rolled,
  uncharge,
  unixMs,
  usable,
} from './long-window.ts';
import { keptForOthers, noteTaken, TakenByOthers } from './others.ts';

const Count = z.number().nonnegative();
const PerWindow = z.partialRecord(z.enum(WINDOWS), Count);

/** What is known of a rate-limit counter of the service that has its own limits. */
export const Bucket = z.object({
  /** From the last answers. */
  limits: PerWindow,
  remaining: PerWindow,
  resetAt: unixMs.optional(),
  /** After a 429: no request is sent before this. */
  closedUntil: unixMs,
  /** When the 429 came. */
  closedAt: unixMs.optional(),
  /** Consecutive 429s that did not say how long to wait. */
  blindWaits: Count,
  /** When our first request was charged to it. */
  firstUseAt: unixMs.optional(),
  /** When our last request was charged to it. */
  lastUseAt: unixMs.optional(),
  /** The limits per hour and month, if the account has them. */
  hour: LongWindow.optional(),
  month: LongWindow.optional(),
  /** What other users of the account have used of the monthly quota. */
  others: TakenByOthers.optional(),
});
export type Bucket = z.infer<typeof Bucket>;

/** The budget as configured. */
export interface BudgetOptions {
  /** Share of each limit to spend, in (0, 1]. */
  readonly utilization: number;
  /** Of the configured plan; the service may grant less. */
  readonly perSecond?: number | undefined;
  readonly perMonth?: number | undefined;
}

export const EMPTY_BUCKET: Bucket = { limits: {}, remaining: {}, closedUntil: 0, blindWaits: 0 };

/** Until the first response, the slowest plan is assumed. */
const ASSUMED_PER_SECOND = 1;
const FIRST_BLIND_WAIT_MS = 60_000;
const MAX_BLIND_WAIT_MS = 3_600_000;
const HOURS_PER_DAY = 24;
/**
 * Our minimum share of the remaining quota. If others use nearly all of it, the quota runs out anyway, so it makes no
 * sense to save it for them.
 */
const MIN_SHARE = 0.1;

/** Requests per second, before `utilization`. A limit of 0 is ignored, because it is real only for a revocation. */
export function perSecondOf(bucket: Bucket | undefined, options: BudgetOptions): number {
  const granted = bucket?.limits.second || ASSUMED_PER_SECOND;
  return Math.min(granted, options.perSecond ?? Number.POSITIVE_INFINITY);
}

/**
 * Whether a window only repeats the limit of the second. The service does this for windows that a plan does not have
 * (api-facts 6.1).
 */
export function isRateWindowRepeated({ limits }: Pick<Bucket, 'limits'>, window: WindowName): boolean {
  const { second = ASSUMED_PER_SECOND } = limits;
  return window !== 'second' && limits[window] === second;
}

/** When the next request may be sent, apart from the second window. */
export function bucketOpensAt(bucket: Bucket, options: BudgetOptions, now: UnixMs): UnixMs {
  const ends = LONG_WINDOWS.map((name) => {
    const window = windowAt(bucket, name, options, now);
    return window && usable(window, options.utilization) < 1 ? renewsAt(name, window, bucket.lastUseAt) : 0;
  });
  return Math.max(bucket.closedUntil, ...ends);
}

/** Counts a request of ours. */
export function chargeBucket(bucket: Bucket, options: BudgetOptions, now: UnixMs): Bucket {
  const charged: Bucket = { ...bucket, firstUseAt: bucket.firstUseAt ?? now, lastUseAt: now };
  for (const name of LONG_WINDOWS) {
    // As it was before this request: a quota that was used up renews after its last one.
    const window = windowAt(bucket, name, options, now);
    if (window) charged[name] = charge(window);
  }
  return charged;
}

/** Requests per day that this exporter may make until the limits renew. */
export function allowedPerDay(bucket: Bucket | undefined, options: BudgetOptions, now: UnixMs): number {
  const bySecond = (perSecondOf(bucket, options) * options.utilization * MS_PER_DAY) / 1000;
  const byHour = bucket?.hour ? bucket.hour.limit * options.utilization * HOURS_PER_DAY : Number.POSITIVE_INFINITY;
  const month = windowAt(bucket ?? EMPTY_BUCKET, 'month', options, now);
  if (!month) return Math.min(bySecond, byHour);
  const end = lastsUntil('month', month, bucket?.firstUseAt ?? now);
  const left = usable(month, options.utilization);
  const forAll = month.remaining ?? Number.POSITIVE_INFINITY;
  const ours = Math.max(left * MIN_SHARE, Math.min(left, forAll - keptForOthers(bucket?.others, end)));
  return Math.min(bySecond, byHour, ours / ((end - now) / MS_PER_DAY));
}

/**
 * Requests that other users of the account made in the hour or month of the last answer; undefined if unknown. A
 * request of ours that was counted, but whose answer was lost, counts as theirs.
 */
export function usedByOthers(bucket: Bucket, name: LongWindowName): number | undefined {
  const { remaining, own } = bucket[name] ?? {};
  const granted = isRateWindowRepeated(bucket, name) ? undefined : bucket.limits[name];
  if (remaining === undefined || own === undefined || granted === undefined) return undefined;
  return Math.max(0, granted - remaining - own);
}

/** The window at `now`. A configured quota applies even before the service has confirmed it. */
export function windowAt(
  bucket: Bucket,
  name: LongWindowName,
  options: BudgetOptions,
  now: UnixMs,
): LongWindow | undefined {
  const window = bucket[name];
  const { firstUseAt = now, lastUseAt } = bucket;
  if (window) return rolled(name, window, { firstUseAt, lastUseAt }, now, options.utilization);
  if (name === 'hour' || options.perMonth === undefined) return undefined;
  return { limit: options.perMonth, own: 0, since: now };
}

/** Applies the headers of an answer. `unaccounted`: requests that its `remaining` may not include. */
export function observeBucket(
  bucket: Bucket,
  answer: { status: number; observation: Observation; unaccounted: number },
  options: BudgetOptions,
  now: UnixMs,
): Bucket {
  const { status, observation, unaccounted } = answer;
  const seen: Bucket = {
    ...bucket,
    limits: { ...bucket.limits, ...observation.limits },
    remaining: { ...bucket.remaining, ...observation.remaining },
    ...(observation.resetSeconds === undefined ? {} : { resetAt: now + observation.resetSeconds * 1000 }),
  };
  for (const name of LONG_WINDOWS) {
    const limit = realLimit(seen, name, options);
    const remaining = isRateWindowRepeated(seen, name) ? undefined : observation.remaining[name];
    const before = bucket.remaining[name];
    if (limit === undefined) {
      delete seen[name];
      continue;
    }
    const window = report(windowAt(seen, name, options, now), { limit, remaining, before, unaccounted }, now);
    seen[name] = isRefunded(status) ? refund(window) : window;
  }
  return { ...seen, ...othersSeen(seen, now), ...waitAfter(bucket, status, observation, now) };
}

function othersSeen(bucket: Bucket, now: UnixMs): Pick<Bucket, 'others'> {
  const taken = usedByOthers(bucket, 'month');
  if (taken === undefined || !bucket.month) return {};
  return { others: noteTaken(bucket.others, taken, bucket.month.since, now) };
}

/** The long windows are not charged for failures that the caller did not cause (api-facts 6.1). */
function isRefunded(status: number): boolean {
  return status === 429 || status >= 500;
}

/**
 * Takes back the charge of a request that told nothing of the account. If the service counted it, the next answer
 * corrects our count. If we kept the charge, days without a network would use up the quota in our count, and no request
 * would be left to correct it.
 *
 * Undefined: nothing changes.
 */
export function withoutAnswer(bucket: Bucket, options: BudgetOptions, now: UnixMs): Bucket | undefined {
  let freed: Bucket | undefined;
  for (const name of LONG_WINDOWS) {
    const window = windowAt(bucket, name, options, now);
    if (window) freed = { ...(freed ?? bucket), [name]: uncharge(window) };
  }
  return freed;
}

/** The lower of the service's limit and the configured one; undefined: no such limit. */
function realLimit(bucket: Bucket, name: LongWindowName, options: BudgetOptions): number | undefined {
  const { limits } = bucket;
  const planned = name === 'month' ? options.perMonth : undefined;
  const isReal = !isRateWindowRepeated(bucket, name) && (name === 'month' || limits.hour !== limits.month);
  // A limit of 0 is ignored, as for the second.
  const granted = (isReal && limits[name]) || undefined;
  if (granted === undefined) return planned;
  return Math.min(granted, planned ?? Number.POSITIVE_INFINITY);
}

function waitAfter(
  bucket: Bucket,
  status: number,
  { resetSeconds }: Observation,
  now: UnixMs,
): Pick<Bucket, 'closedUntil' | 'closedAt' | 'blindWaits'> {
  const { closedUntil, blindWaits } = bucket;
  // While a bucket is closed no request is sent, so this answer belongs to the event that closed it.
  const isSameEvent = blindWaits > 0 && now < closedUntil;
  if (status !== 429) return { closedUntil, blindWaits: isSameEvent ? blindWaits : 0 };
  const closed = (waitMs: Milliseconds) => ({ closedUntil: Math.max(closedUntil, now + waitMs), closedAt: now });
  // A reset of 0 may be a fraction of a second, rounded down.
  if (resetSeconds !== undefined) return { ...closed(Math.max(1, resetSeconds) * 1000), blindWaits: 0 };
  if (isSameEvent) return { closedUntil, blindWaits };
  return {
    ...closed(Math.min(FIRST_BLIND_WAIT_MS * 2 ** blindWaits, MAX_BLIND_WAIT_MS)),
    blindWaits: blindWaits + 1,
  };
}
