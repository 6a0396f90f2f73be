import * as z from 'zod';
import { MS_PER_DAY, MS_PER_HOUR } from '../lib/duration.ts';
import type { UnixMs } from '../lib/time.ts';

/** A time that Date can represent. */
export const unixMs = z.number().nonnegative().max(8.64e15);

/** The windows other than the second that can be real limits. Minute and day only repeat others (api-facts 6.1). */
export const LONG_WINDOWS = ['hour', 'month'] as const;
export type LongWindowName = (typeof LONG_WINDOWS)[number];

/** What is known of the requests of one hour or month. */
export const LongWindow = z.object({
  /** The lower of the service's limit and the configured one. */
  limit: z.number().nonnegative(),
  /**
   * What the last answer said is left for all users of the account, minus our requests since; absent if none said it.
   */
  remaining: z.number().optional(),
  /** Our requests since the window began. */
  own: z.number().nonnegative(),
  /** When the first of them was charged. */
  since: unixMs,
});
export type LongWindow = z.infer<typeof LongWindow>;

/** The content of a response about a window. */
export interface WindowReport {
  readonly limit: number;
  readonly remaining: number | undefined;
  /** `remaining` of the previous answer. */
  readonly before: number | undefined;
  /** Requests that may have been charged after this one and are not yet in `remaining`. */
  readonly unaccounted: number;
}

/** A quota of this size may be that of a trial, which lasts 30 days from its first use and does not renew. */
const TRIAL_QUOTA = 1_000;
const TRIAL_MS = 30 * MS_PER_DAY;
/** Refunds and answers out of order raise `remaining` by a few; a renewal raises it by more. */
const RENEWAL_JUMP = 20;

/** Counts a request of ours. */
export function charge(window: LongWindow): LongWindow {
  const { remaining, own } = window;
  return { ...window, own: own + 1, ...(remaining === undefined ? {} : { remaining: remaining - 1 }) };
}

/** The service refunded a request of ours; its answer reports `remaining` anyway. */
export function refund(window: LongWindow): LongWindow {
  return { ...window, own: Math.max(0, window.own - 1) };
}

/** Undoes `charge` for a request that got no answer. */
export function uncharge(window: LongWindow): LongWindow {
  const { remaining } = window;
  return { ...refund(window), ...(remaining === undefined ? {} : { remaining: remaining + 1 }) };
}

/** Applies an answer. Its `remaining` corrects our own count, because others use the quota too. */
export function report(window: LongWindow | undefined, said: WindowReport, now: UnixMs): LongWindow {
  const { limit, unaccounted, before } = said;
  const remaining = said.remaining === undefined ? undefined : Math.max(0, said.remaining - unaccounted);
  if (!window) return { limit, own: 1 + unaccounted, since: now, ...(remaining === undefined ? {} : { remaining }) };
  if (remaining === undefined) return { ...window, limit };
  // Compared with the previous answer, because our own count also falls with requests that never arrived.
  const isRenewed = window.remaining !== undefined && before !== undefined && remaining > before + RENEWAL_JUMP;
  if (isRenewed) return { limit, remaining, own: 1 + unaccounted, since: now };
  return { ...window, limit, remaining };
}

/** Requests that this exporter may still make: its share of the limit, but not more than `remaining`. */
export function usable(window: LongWindow, utilization: number): number {
  const share = Math.floor(window.limit * utilization) - window.own;
  return Math.max(0, Math.min(share, window.remaining ?? Number.POSITIVE_INFINITY));
}

/** The next full hour, or the start of the next UTC month, after `at`. */
export function calendarEnd(name: LongWindowName, at: UnixMs): UnixMs {
  return name === 'hour' ? (Math.floor(at / MS_PER_HOUR) + 1) * MS_PER_HOUR : monthStart(at, 1);
}

/** The start of the UTC month of `at`, or of the month `later` months after it. */
export function monthStart(at: UnixMs, later = 0): UnixMs {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later, 1);
}

/** When the quota must last until. That of a trial may end with the month or 30 days after its first use. */
export function lastsUntil(name: LongWindowName, window: LongWindow, firstUseAt: UnixMs): UnixMs {
  const end = calendarEnd(name, window.since);
  return name === 'month' && window.limit <= TRIAL_QUOTA ? Math.max(end, firstUseAt + TRIAL_MS) : end;
}

/** When a bucket was first and last used, as far as known. */
export interface Use {
  readonly firstUseAt: UnixMs;
  readonly lastUseAt?: UnixMs | undefined;
}

/** When a window that is used up may renew: at the end of the hour or month of its last request. */
export function renewsAt(name: LongWindowName, { since }: LongWindow, lastUseAt = since): UnixMs {
  return calendarEnd(name, Math.max(since, lastUseAt));
}

/** The window at `now`. After its end a new one is assumed, until the next answer reports it. */
export function rolled(
  name: LongWindowName,
  window: LongWindow,
  { firstUseAt, lastUseAt }: Use,
  now: UnixMs,
  utilization: number,
): LongWindow {
  const isExhausted = usable(window, utilization) < 1;
  const end = isExhausted ? renewsAt(name, window, lastUseAt) : lastsUntil(name, window, firstUseAt);
  return now < end ? window : { limit: window.limit, own: 0, since: now };
}
