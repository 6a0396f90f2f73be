import { z } from 'zod';
import { MS_PER_DAY, MS_PER_HOUR } from '../lib/duration.ts';
import type { UnixMs } from '../lib/time.ts';

/** A time that has a date. */
export const unixMs = z.number().nonnegative().max(8.64e15);

/** Windows that are limits of their own beside the second: minute and day only repeat others (api-facts 6.1). */
export const LONG_WINDOWS = ['hour', 'month'] as const;
export type LongWindowName = (typeof LONG_WINDOWS)[number];

/** What is known of the requests of one hour or month. */
export const LongWindow = z.object({
  /** The tighter of what the service grants and what the configured plan allows. */
  limit: z.number().nonnegative(),
  /** Left for everybody by the last answer, less what has left since; absent where no answer said so. */
  remaining: z.number().optional(),
  /** Of ours, charged since the window began. */
  own: z.number().nonnegative(),
  /** When the first of ours was charged. */
  since: unixMs,
});
export type LongWindow = z.infer<typeof LongWindow>;

/** What an answer says of a window. */
export interface WindowReport {
  readonly limit: number;
  readonly remaining: number | undefined;
  /** What the answer before this one said of `remaining`. */
  readonly before: number | undefined;
  /** Requests that may have been charged after the answer's own, and are not in `remaining`. */
  readonly unaccounted: number;
}

/** A quota of this size may be that of a trial, which has 30 days from the first use on and does not renew. */
const TRIAL_QUOTA = 1_000;
const TRIAL_MS = 30 * MS_PER_DAY;
/** Refunds and answers that overtake each other raise `remaining` by a few; a renewal by more. */
const RENEWAL_JUMP = 20;

/** A request of ours leaves. */
export function charge(window: LongWindow): LongWindow {
  const { remaining, own } = window;
  return { ...window, own: own + 1, ...(remaining === undefined ? {} : { remaining: remaining - 1 }) };
}

/** The service gave a request of ours back, and its answer says what is left for everybody. */
export function refund(window: LongWindow): LongWindow {
  return { ...window, own: Math.max(0, window.own - 1) };
}

/** A request of ours got no answer: it takes back what `charge` did. */
export function uncharge(window: LongWindow): LongWindow {
  const { remaining } = window;
  return { ...refund(window), ...(remaining === undefined ? {} : { remaining: remaining + 1 }) };
}

/** Takes in what an answer says; `remaining` corrects our own count, because others spend too. */
export function report(window: LongWindow | undefined, said: WindowReport, now: UnixMs): LongWindow {
  const { limit, unaccounted, before } = said;
  const remaining = said.remaining === undefined ? undefined : Math.max(0, said.remaining - unaccounted);
  if (!window) return { limit, own: 1 + unaccounted, since: now, ...(remaining === undefined ? {} : { remaining }) };
  if (remaining === undefined) return { ...window, limit };
  // Compared with an answer, not with our own count: that falls also with requests that never arrived.
  const isRenewed = window.remaining !== undefined && before !== undefined && remaining > before + RENEWAL_JUMP;
  if (isRenewed) return { limit, remaining, own: 1 + unaccounted, since: now };
  return { ...window, limit, remaining };
}

/** Requests that this exporter may still spend: its share of the limit, and no more than is left for everybody. */
export function usable(window: LongWindow, utilization: number): number {
  const share = Math.floor(window.limit * utilization) - window.own;
  return Math.max(0, Math.min(share, window.remaining ?? Number.POSITIVE_INFINITY));
}

/** Unix ms of the full hour or the UTC month start after `at`. */
export function calendarEnd(name: LongWindowName, at: UnixMs): UnixMs {
  return name === 'hour' ? (Math.floor(at / MS_PER_HOUR) + 1) * MS_PER_HOUR : monthStart(at, 1);
}

/** Unix ms of the start of the UTC month of `at`, or of one that is `later` by so many. */
export function monthStart(at: UnixMs, later = 0): UnixMs {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later, 1);
}

/** Unix ms until which the quota must last: a trial's may end with the month or 30 days after its first use. */
export function lastsUntil(name: LongWindowName, window: LongWindow, firstUseAt: UnixMs): UnixMs {
  const end = calendarEnd(name, window.since);
  return name === 'month' && window.limit <= TRIAL_QUOTA ? Math.max(end, firstUseAt + TRIAL_MS) : end;
}

/** When a bucket was used, Unix ms: at first, and last as far as is known. */
export interface Use {
  readonly firstUseAt: UnixMs;
  readonly lastUseAt?: UnixMs | undefined;
}

/** Unix ms at which a window that is used up may have isRenewed: the end of the hour or month in which its last request left. */
export function renewsAt(name: LongWindowName, { since }: LongWindow, lastUseAt = since): UnixMs {
  return calendarEnd(name, Math.max(since, lastUseAt));
}

/** The window at `now`: past its end it is a new one, of which the next answer will tell. */
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
