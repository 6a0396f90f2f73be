import * as z from 'zod';
import { CLOCK_AHEAD_MS } from '../lib/clock.ts';
import { MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE } from '../lib/duration.ts';
import type { Milliseconds, UnixMs } from '../lib/time.ts';
import { type Observation, WINDOWS, type WindowName } from './headers.ts';
import {
  charge,
  expectedOfOthers,
  LONG_WINDOWS,
  LongWindow,
  type LongWindowName,
  refund,
  report,
  uncharge,
  unixMs,
  usable,
  windowEnd,
} from './long-window.ts';

const Count = z.number().nonnegative();
const PerWindow = z.partialRecord(z.enum(WINDOWS), Count);

/** A rate-limit counter of the service, which has its own limits. */
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
  /** The limits per hour and month, if the account has them. */
  hour: LongWindow.optional(),
  month: LongWindow.optional(),
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
const FIRST_BLIND_WAIT_MS = MS_PER_MINUTE;
const MAX_BLIND_WAIT_MS = MS_PER_HOUR;
const HOURS_PER_DAY = 24;
/**
 * Our minimum share of the remaining quota. If others use nearly all of it, the quota runs out anyway, so it makes no
 * sense to save it for them.
 */
const MIN_SHARE = 0.25;
/** A quota of this size may be that of a trial, which lasts 30 days from its first use. */
const TRIAL_QUOTA = 1_000;
const TRIAL_MS = 30 * MS_PER_DAY;

/** Requests per second, before `utilization`. A limit of 0 is ignored, because it is real only for a revocation. */
export function perSecondOf(bucket: Bucket | undefined, options: BudgetOptions): number {
  const granted = bucket?.limits.second || ASSUMED_PER_SECOND;
  return Math.min(granted, options.perSecond ?? Number.POSITIVE_INFINITY);
}

/**
 * Whether a window only repeats the limit of the second. The service does this for windows that a plan does not have
 * (api-facts 6.1).
 */
export function isFiller({ limits }: Pick<Bucket, 'limits'>, window: WindowName): boolean {
  const { second = ASSUMED_PER_SECOND } = limits;
  return window !== 'second' && limits[window] === second;
}

/** An hour or month at some time. */
export interface WindowNow extends LongWindow {
  /** Requests that this exporter may still make. */
  readonly left: number;
  /** Requests that are kept for others until `end`. */
  readonly reserved: number;
  readonly resetsAt: UnixMs;
  /** Until when the rest must last. That of a trial may end with the month or 30 days after its first use. */
  readonly end: UnixMs;
}

/** Undefined: there is no such limit, as far as known. */
export function windowAt(
  bucket: Bucket,
  name: LongWindowName,
  options: BudgetOptions,
  now: UnixMs,
): WindowNow | undefined {
  const window = currentWindow(bucket, name, options, now);
  if (!window || isAsking(window, options)) return undefined;
  const resetsAt = windowEnd(name, window.since);
  const isTrial = name === 'month' && window.limit <= TRIAL_QUOTA;
  const end = isTrial ? Math.max(resetsAt, (bucket.firstUseAt ?? now) + TRIAL_MS) : resetsAt;
  const { remaining = 0 } = window;
  const reserved = Math.min(remaining, expectedOfOthers(window, usedByOthers(bucket, name) ?? 0, end, now));
  return { ...window, left: usable(window, options.utilization), reserved, resetsAt, end };
}

/** Whether the window is used up by our count, and the next answer may say otherwise. */
export function isAsking(window: LongWindow, options: BudgetOptions): boolean {
  return window.mayAsk === true && usable(window, options.utilization) < 1;
}

/**
 * After the end of a window a new one is assumed, until the next answer reports it. A configured quota applies even
 * before the service has confirmed it.
 */
function currentWindow(
  bucket: Bucket,
  name: LongWindowName,
  options: BudgetOptions,
  now: UnixMs,
): LongWindow | undefined {
  const window = bucket[name];
  if (window && now < windowEnd(name, window.since)) return window;
  const limit = window?.limit ?? (name === 'month' ? options.perMonth : undefined);
  return limit === undefined ? undefined : { limit, own: 0, since: now };
}

/** The remaining requests in the hour and month of one bucket, regardless of the key. */
export interface Quota {
  /** No request may be sent before this, because nothing is left or after a 429. In the past: requests may be sent. */
  readonly opensAt: UnixMs;
  /** The reason for a wait: the window that is used up, a 429, or otherwise the month, of which little may be left. */
  readonly limit: LongWindowName | '429';
  /** The month; Infinity: the plan has no quota. */
  readonly left: number;
  readonly resetsAt: UnixMs;
  readonly end: UnixMs;
}

export function quotaOf(bucket: Bucket, options: BudgetOptions, now: UnixMs): Quota {
  const { closedUntil } = bucket;
  const spent = LONG_WINDOWS.flatMap((name) => {
    const window = windowAt(bucket, name, options, now);
    return window && window.left < 1 ? [{ name, ...window }] : [];
  });
  const opensAt = Math.max(closedUntil, ...spent.map(({ resetsAt }) => resetsAt));
  const limit = spent.at(-1)?.name ?? (closedUntil > now ? '429' : 'month');
  const { left, resetsAt, end } = windowAt(bucket, 'month', options, now) ?? NO_QUOTA;
  return { opensAt, limit, left, resetsAt, end };
}

const NO_QUOTA = {
  left: Number.POSITIVE_INFINITY,
  resetsAt: Number.POSITIVE_INFINITY,
  end: Number.POSITIVE_INFINITY,
};

/** Counts a request of ours. */
export function chargeBucket(bucket: Bucket, options: BudgetOptions, now: UnixMs): Bucket {
  const charged: Bucket = { ...bucket, firstUseAt: bucket.firstUseAt ?? now };
  for (const name of LONG_WINDOWS) {
    const window = currentWindow(bucket, name, options, now);
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
  const { left, reserved, remaining = Number.POSITIVE_INFINITY, end } = month;
  const ours = Math.max(left * MIN_SHARE, Math.min(left, remaining - reserved));
  return Math.min(bySecond, byHour, ours / ((end - now) / MS_PER_DAY));
}

/**
 * Requests that other users of the account made in the hour or month of the last answer; undefined if unknown. A
 * request of ours that was counted, but whose answer was lost, counts as theirs.
 */
export function usedByOthers(bucket: Bucket, name: LongWindowName): number | undefined {
  const { remaining, own } = bucket[name] ?? {};
  const granted = isFiller(bucket, name) ? undefined : bucket.limits[name];
  if (remaining === undefined || own === undefined || granted === undefined) return undefined;
  return Math.max(0, granted - remaining - own);
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
    if (limit === undefined) {
      delete seen[name];
      continue;
    }
    const isReal = !isFiller(seen, name);
    const granted = isReal ? seen.limits[name] : undefined;
    const isPrevious = status === 429 && isOfPreviousWindow(name, observation, now);
    const remaining = isReal && !isPrevious ? observation.remaining[name] : undefined;
    const window = currentWindow(seen, name, options, now);
    const charged = window && isRefunded(status) ? refund(window) : window;
    seen[name] = report(charged, { limit, granted, remaining, unaccounted }, now);
  }
  return { ...seen, ...waitAfter(bucket, status, observation, now) };
}

/**
 * Whether a 429 is about the previous hour or month, because our clock is ahead: it names the reset of the longest window
 * that is used up (api-facts 6.1), and by our clock this one has just begun.
 */
function isOfPreviousWindow(name: LongWindowName, { remaining, resetSeconds }: Observation, now: UnixMs): boolean {
  if (remaining[name] !== 0 || resetSeconds === undefined) return false;
  return now + resetSeconds * 1000 + CLOCK_AHEAD_MS < windowEnd(name, now);
}

/** The long windows are not charged for failures that the caller did not cause (api-facts 6.1). */
function isRefunded(status: number): boolean {
  return status === 429 || status >= 500;
}

/**
 * Takes back the charge of a request whose answer says nothing about the account. If the service counted it, the next answer
 * corrects our count. If we kept the charge, days without a network would use up the quota in our count, and no request
 * would be left to correct it.
 */
export function unchargeBucket(bucket: Bucket, options: BudgetOptions, now: UnixMs): Bucket {
  const freed: Bucket = { ...bucket };
  for (const name of LONG_WINDOWS) {
    const window = currentWindow(bucket, name, options, now);
    if (window) freed[name] = uncharge(window);
  }
  return freed;
}

/** The lower of the service's limit and the configured one; undefined: no such limit. */
function realLimit(bucket: Bucket, name: LongWindowName, options: BudgetOptions): number | undefined {
  const { limits } = bucket;
  const planned = name === 'month' ? options.perMonth : undefined;
  const isReal = !isFiller(bucket, name) && (name === 'month' || limits.hour !== limits.month);
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

/** A time in the future is from before the clock was set back. It becomes `now`, and a wait keeps its length. */
export function withoutFuture(bucket: Bucket, now: UnixMs): Bucket {
  const { closedAt = 0, closedUntil, firstUseAt = 0, hour, month } = bucket;
  if (Math.max(closedAt, firstUseAt, hour?.since ?? 0, month?.since ?? 0) <= now) return bucket;
  return {
    ...bucket,
    ...(closedAt > now ? { closedAt: now, closedUntil: closedUntil - (closedAt - now) } : {}),
    ...(firstUseAt > now ? { firstUseAt: now } : {}),
    ...(hour ? { hour: { ...hour, since: Math.min(hour.since, now) } } : {}),
    ...(month ? { month: { ...month, since: Math.min(month.since, now) } } : {}),
  };
}

/**
 * Describes the plan by its limits (api-facts 6.2), because the service does not name it. Undefined: no answer has
 * stated a limit.
 */
export function describePlan(bucket: Bucket | undefined): string | undefined {
  const second = bucket?.limits.second;
  if (!bucket || second === undefined) return undefined;
  const month = isFiller(bucket, 'month') ? undefined : bucket.limits.month;
  if (month !== undefined) return `${second} per second and ${month} per month, as on a trial or a legacy plan`;
  const names: Readonly<Record<number, string>> = { 1: 'Hobbyist', 2: 'Business', 5: 'Scale' };
  return `${second} per second without a quota, as on ${names[second] ?? 'an agreed plan'}`;
}
