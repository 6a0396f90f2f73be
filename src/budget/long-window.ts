import * as z from 'zod';
import { MS_PER_DAY, MS_PER_HOUR } from '../toolkit/lib/duration.ts';
import { HELD_FOR_MS, type Time } from '../toolkit/lib/held-time.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';

/** Also reserves what others make in this time, because a 429 is worse than a few unused requests. */
const SPARE_MS = MS_PER_DAY / 2;

/** A time that Date can represent. */
export const unixMs = z.number().nonnegative().max(8.64e15);

/** The windows beside the second that can be real limits. Minute and day only repeat others (api-facts 6.1). */
export const LONG_WINDOWS = ['hour', 'month'] as const;
export type LongWindowName = (typeof LONG_WINDOWS)[number];

export const LongWindow = z.object({
  /** The lower of the service's limit and the configured one. */
  limit: z.number().nonnegative(),
  /**
   * The remaining requests for everybody on the account: those of the last response, minus our requests since. Absent if no response
   * named them.
   */
  remaining: z.number().optional(),
  /** Our requests since the window began. */
  own: z.number().nonnegative(),
  /** When the service charged the first of them. */
  since: unixMs,
  /** When a response first named the remaining requests, and how many others had made before. */
  others: z.object({ since: unixMs, before: z.number() }).optional(),
});
export type LongWindow = z.infer<typeof LongWindow>;

export interface WindowReport {
  readonly limit: number;
  /** The limit of the service, from which `remaining` counts down. */
  readonly granted: number | undefined;
  readonly remaining: number | undefined;
  /** Requests that the service may have charged after this one, which `remaining` lacks. */
  readonly unaccounted: number;
  /** The most requests that earlier processes may have sent without writing them. */
  readonly unwritten: number;
}

/** When the hour or month that contains `since` ends. */
export function windowEnd(name: LongWindowName, since: UnixMs): UnixMs {
  if (name === 'hour') return (Math.floor(since / MS_PER_HOUR) + 1) * MS_PER_HOUR;
  const date = new Date(since);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** When a used-up window opens again: a while after its end, in case the clock has jumped. */
export function renewal(name: LongWindowName, since: UnixMs, now: UnixMs): UnixMs {
  const end = windowEnd(name, since);
  return (end + HELD_FOR_MS > now ? end : now) + HELD_FOR_MS;
}

/** The hour or month at this time. The next one begins only once its time has held, so that a jumping clock ends no count. */
export function renewed(name: LongWindowName, window: LongWindow, { now, held }: Time): LongWindow {
  const since = Math.min(window.since, now);
  return held < windowEnd(name, since) ? { ...window, since } : { limit: window.limit, own: 0, since: now };
}

/** Counts a request of ours. -1 takes back one without a response or a charge. */
export function charge(window: LongWindow, by: 1 | -1 = 1): LongWindow {
  const { remaining, own } = window;
  return { ...window, own: Math.max(0, own + by), ...(remaining === undefined ? {} : { remaining: remaining - by }) };
}

/** Applies a response. Its `remaining` corrects our own count, because others use the quota too. */
export function report(window: LongWindow | undefined, said: WindowReport, now: UnixMs): LongWindow {
  const { limit, granted, unaccounted } = said;
  const known: LongWindow = window ?? { limit, own: 1 + unaccounted, since: now };
  if (said.remaining === undefined) return { ...known, limit };
  const remaining = Math.max(0, said.remaining - unaccounted);
  if (granted === undefined) return { ...known, limit, remaining };
  const used = Math.max(0, granted - remaining);
  const expected = known.remaining ?? granted - known.own;
  const unwritten = Math.min(said.unwritten, Math.max(0, expected - remaining));
  // If the service counts less than we do, it has started a new count, maybe before ours.
  const isNew = used < known.own;
  const own = Math.min(known.own + unwritten, used);
  // A time in the future is from before the clock was set back.
  const start = !isNew && known.others && known.others.since <= now ? known.others : { since: now, before: used };
  const others = { ...start, before: Math.min(start.before, used - own) };
  return { ...known, limit, remaining, own, others, since: isNew ? now : known.since };
}

/** Requests that this exporter may still make: its share of the limit, but not more than `remaining`. */
export function usable(window: LongWindow, utilization: number): number {
  const share = Math.floor(window.limit * utilization) - window.own;
  return Math.max(0, Math.min(share, window.remaining ?? Number.POSITIVE_INFINITY));
}

/**
 * Requests to expect of others until `end`: as many a day as since the first response in this window, of which they have made `taken`.
 * When they made those before that response is unknown.
 */
export function expectedOfOthers({ others }: LongWindow, taken: number, end: UnixMs, now: UnixMs): number {
  const { since, before } = others ?? { since: now, before: taken };
  return ((taken - before) / Math.max(MS_PER_DAY, now - since)) * (end + SPARE_MS - now);
}
