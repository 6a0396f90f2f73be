import { SECONDS_PER_DAY } from '../../../src/lib/duration.ts';
import { HOUR } from '../../support/timing.ts';
import type { Plan, ServiceSetting } from './setting.ts';

/** The windows that can refuse a request, the longest first. */
export const LIMITED = ['month', 'hour', 'second'] as const;
export type LimitedWindow = (typeof LIMITED)[number];

const THIRTY_DAYS = 30 * SECONDS_PER_DAY * 1_000;

/** What was counted in a window. */
export interface Counted {
  ours: number;
  theirs: number;
}

interface Window extends Counted {
  /** Unix ms at which a new window opens with the next request. */
  endsAt: number;
}

export interface Charge {
  readonly refusedBy: LimitedWindow | undefined;
  readonly headers: Record<string, string>;
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
    for (const window of LIMITED) this.#opened(window, now).theirs += requests;
  }

  /** Counts a request of ours in every window, also if one of them refuses it. */
  charge(plan: Plan, now: number): Charge {
    for (const window of LIMITED) this.#opened(window, now).ours += 1;
    const refusedBy = LIMITED.find((window) => this.#used(window) > limitOf(plan, window));
    return { refusedBy, headers: this.#headers(plan, refusedBy, now) };
  }

  /** Takes a request back from the long windows: for a 429 and 5xx. */
  refund(): void {
    for (const window of ['month', 'hour'] as const) this.#windows[window].ours -= 1;
  }

  /** The quota is full again. */
  renew(): void {
    this.#windows.month = closed();
    this.#windows.hour = closed();
  }

  /** What the current windows have counted. */
  counted(now: number): Record<LimitedWindow, Counted> {
    const of = (window: LimitedWindow): Counted => {
      const { ours, theirs, endsAt } = this.#windows[window];
      return now < endsAt ? { ours, theirs } : { ours: 0, theirs: 0 };
    };
    return { month: of('month'), hour: of('hour'), second: of('second') };
  }

  #opened(window: LimitedWindow, now: number): Window {
    const known = this.#windows[window];
    if (now < known.endsAt && now >= known.endsAt - 32 * SECONDS_PER_DAY * 1_000) return known;
    const opened = { ours: 0, theirs: 0, endsAt: this.#endOf(window, now) };
    this.#windows[window] = opened;
    return opened;
  }

  #endOf(window: LimitedWindow, now: number): number {
    if (window === 'second') return now + 1_000;
    if (window === 'hour') return (Math.floor(now / HOUR) + 1) * HOUR;
    if (this.#month === 'thirty_days') return now + THIRTY_DAYS;
    const date = new Date(now);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  }

  #used(window: LimitedWindow): number {
    return this.#windows[window].ours + this.#windows[window].theirs;
  }

  #headers(plan: Plan, refusedBy: LimitedWindow | undefined, now: number): Record<string, string> {
    const reported = refusedBy ?? 'second';
    const reset = reported === 'second' ? 1 : Math.floor((this.#windows[reported].endsAt - now) / 1_000);
    const left = (window: LimitedWindow): number => Math.max(0, limitOf(plan, window) - this.#used(window));
    return {
      'ratelimit-limit': String(limitOf(plan, reported)),
      'ratelimit-remaining': String(left(reported)),
      'ratelimit-reset': String(reset),
      'ratelimit-window': reported,
      ...(refusedBy ? { 'retry-after': String(reset) } : {}),
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

function limitOf(plan: Plan, window: LimitedWindow): number {
  if (window === 'second') return plan.perSecond;
  return (window === 'hour' ? plan.perHour : plan.perMonth) ?? Number.POSITIVE_INFINITY;
}

function closed(): Window {
  return { ours: 0, theirs: 0, endsAt: Number.NEGATIVE_INFINITY };
}
