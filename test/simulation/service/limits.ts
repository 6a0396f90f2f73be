import { DAY, HOUR } from '../../support/time/timing.ts';
import type { Plan, ServiceSetting } from './setting.ts';

/** The windows that can refuse a request, the longest first. */
const LIMITED = ['month', 'hour', 'second'] as const;
export type LimitedWindow = (typeof LIMITED)[number];

interface Window {
  used: number;
  /** Unix ms at which a new window opens with the next request. */
  endsAt: number;
}

/** The counters of one bucket of the account (api-facts 6.1). */
export class Bucket {
  readonly name: string;
  readonly #month: ServiceSetting['month'];
  readonly #windows: Record<LimitedWindow, Window> = { month: closed(), hour: closed(), second: closed() };

  constructor(name: string, month: ServiceSetting['month']) {
    this.name = name;
    this.#month = month;
  }

  /** Counts requests of somebody else. */
  spend(requests: number, now: number): void {
    for (const window of LIMITED) this.#opened(window, now).used += requests;
  }

  /** Counts a request of ours in every window, also if one of them refuses it. */
  charge(plan: Plan, now: number) {
    this.spend(1, now);
    const refusedBy = LIMITED.find((window) => this.#windows[window].used > limitOf(plan, window));
    return { refusedBy, headers: this.#headers(plan, refusedBy, now) };
  }

  /** Takes a request back from the long windows: for a 429 and 5xx. */
  refund(): void {
    this.#windows.month.used -= 1;
    this.#windows.hour.used -= 1;
  }

  /** The quota is full again. */
  renew(): void {
    this.#windows.month = closed();
    this.#windows.hour = closed();
  }

  usedOfMonth(now: number): number {
    const { used, endsAt } = this.#windows.month;
    return now < endsAt ? used : 0;
  }

  #opened(window: LimitedWindow, now: number): Window {
    const known = this.#windows[window];
    if (now < known.endsAt) return known;
    const opened = { used: 0, endsAt: this.#endOf(window, now) };
    this.#windows[window] = opened;
    return opened;
  }

  #endOf(window: LimitedWindow, now: number): number {
    if (window === 'second') return now + 1_000;
    if (window === 'hour') return (Math.floor(now / HOUR) + 1) * HOUR;
    return this.#month === 'thirty_days' ? now + 30 * DAY : endOfMonth(now);
  }

  #headers(plan: Plan, refusedBy: LimitedWindow | undefined, now: number): Record<string, string> {
    const reported = refusedBy ?? 'second';
    const reset = String(reported === 'second' ? 1 : Math.floor((this.#windows[reported].endsAt - now) / 1_000));
    const left = (window: LimitedWindow): number => Math.max(0, limitOf(plan, window) - this.#windows[window].used);
    return {
      'ratelimit-limit': String(limitOf(plan, reported)),
      'ratelimit-remaining': String(left(reported)),
      'ratelimit-reset': reset,
      'ratelimit-window': reported,
      ...(refusedBy ? { 'retry-after': reset } : {}),
      ...perWindow('limit', plan, (window) => limitOf(plan, window)),
      ...perWindow('remaining', plan, left),
    };
  }
}

/** The headers of revoked access (api-facts 6.3). The reset has no meaning. */
export function revokedHeaders(now: number): Record<string, string> {
  const reset = String(36_644 + (Math.floor(now / 1_000) % 1_000));
  const none = { perSecond: 0, perHour: 0, perMonth: 0 };
  return {
    'ratelimit-limit': '0',
    'ratelimit-remaining': '0',
    'ratelimit-reset': reset,
    'ratelimit-window': 'month',
    'retry-after': reset,
    ...perWindow('limit', none, () => 0),
    ...perWindow('remaining', none, () => 0),
  };
}

/** The headers that this service sends. */
export function sentHeaders(
  { sent, without }: ServiceSetting['headers'],
  all: Readonly<Record<string, string>>,
): Record<string, string> {
  if (sent === 'none') return {};
  if (sent === 'fallback') return { 'ratelimit-limit': '20', 'ratelimit-reset': '1' };
  const isExtended = (name: string): boolean => name.startsWith('x-');
  const kept = Object.entries(all).filter(
    ([name]) => !without.includes(name) && (sent === 'all' || isExtended(name) === (sent === 'extended')),
  );
  return Object.fromEntries(kept);
}

/** Minute and day are no windows of the service: they repeat the figures of another one (api-facts 6.1). */
function perWindow(what: string, plan: Plan, of: (window: LimitedWindow) => number): Record<string, string> {
  const month = plan.perMonth === undefined ? of('second') : of('month');
  const hour = plan.perHour === undefined ? month : of('hour');
  const figures = { second: of('second'), minute: hour, hour, day: month, month };
  return Object.fromEntries(
    Object.entries(figures).map(([window, figure]) => [`x-ratelimit-${what}-${window}`, String(figure)]),
  );
}

/** When the month of the calendar ends. */
export function endOfMonth(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

function limitOf(plan: Plan, window: LimitedWindow): number {
  if (window === 'second') return plan.perSecond;
  return (window === 'hour' ? plan.perHour : plan.perMonth) ?? Number.POSITIVE_INFINITY;
}

function closed(): Window {
  return { used: 0, endsAt: Number.NEGATIVE_INFINITY };
}
