import { PLANS, type PlanLimits } from '../facts/plans.ts';
import { MS_PER_DAY, MS_PER_HOUR } from '../toolkit/lib/duration.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';

/** The windows that can refuse a request, the longest first. */
const WINDOWS = ['month', 'hour', 'second'] as const;
export type LimitedWindow = (typeof WINDOWS)[number];

/** A window without a limit refuses nothing. */
export interface AccountLimits extends PlanLimits {
  readonly perHour?: number;
}

/** A plan of api-facts 6.2, or agreed limits. */
export type AccountPlan = keyof typeof PLANS | AccountLimits;

/** Which rate headers are sent. */
export interface HeaderForm {
  /** `fallback`: as while the store of the limiter is down (api-facts 6.1). */
  readonly sent: 'all' | 'basic' | 'extended' | 'fallback' | 'none';
  readonly without: readonly string[];
}

interface Window {
  used: number;
  readonly from: UnixMs;
  readonly until: UnixMs;
}
type Usage = Partial<Record<LimitedWindow, Window>>;

/** Plain data. All but the usage may be set at any time. */
export interface Account {
  key: string;
  plan: AccountPlan;
  /** The trial expired or the subscription was cancelled. */
  isRevoked: boolean;
  headers: HeaderForm;
  /** When the next month starts. `thirty_days`: 30 days after the first request of this one. */
  readonly month: 'calendar' | 'thirty_days';
  /** Which requests share a counter. `version`: those of a legacy subscription. */
  readonly buckets: 'one' | 'version' | 'endpoint';
  /** By bucket. */
  readonly usage: Map<string, Usage>;
  /** Callers without a valid key are counted apart. */
  readonly strangers: Usage;
}

export type AccountOptions = Partial<Omit<Account, 'usage' | 'strangers'>>;

export const DEMO_KEY = 'sandbox';
const ALL_HEADERS: HeaderForm = { sent: 'all', without: [] };
const DEFAULT_BUCKET = 'default';
/** The limits after access was revoked (api-facts 6.3). */
const NO_ACCESS: AccountLimits = { perSecond: 0, perMonth: 0 };
const OF_STRANGERS: AccountLimits = { perSecond: 2 };

export function createAccount(options: AccountOptions = {}): Account {
  const { key = DEMO_KEY, plan = 'scale', isRevoked = false, headers = ALL_HEADERS } = options;
  const { month = 'calendar', buckets = 'one' } = options;
  return { key, plan, isRevoked, headers, month, buckets, usage: new Map(), strangers: {} };
}

export function limitsOf(plan: AccountPlan): AccountLimits {
  return typeof plan === 'string' ? PLANS[plan] : plan;
}

/** Counts requests of other users of the account, in each bucket that is in use. */
export function spend(account: Account, requests: number, now: UnixMs): void {
  if (account.buckets === 'one') usageOf(account, DEFAULT_BUCKET);
  for (const usage of account.usage.values()) count(account, usage, requests, now);
}

/** The requests of all users this month, in the bucket with the most. */
export function usedOfMonth({ usage }: Account, now: UnixMs): number {
  const used = [...usage.values()].map(({ month }) => (month && isOpen(month, now) ? month.used : 0));
  return Math.max(0, ...used);
}

export function renew({ usage }: Account): void {
  for (const one of usage.values()) {
    delete one.month;
    delete one.hour;
  }
}

/** A request without its query. Names of headers are in lower case. */
interface Call {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** A request that was counted in every window, even if one of them refused it. */
export interface Charge {
  readonly isKeyValid: boolean;
  readonly bucket: string;
  readonly refusedBy: LimitedWindow | 'revoked' | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly usage: Usage;
}

/** Charges a request (api-facts 6.1). A 429 is refunded, after its headers showed it. */
export function charge(account: Account, call: Call, now: UnixMs): Charge {
  const isKeyValid = keyOf(call) === account.key;
  const isRevoked = isKeyValid && account.isRevoked;
  const bucket = isKeyValid ? bucketOf(account, call.path) : DEFAULT_BUCKET;
  const usage = isKeyValid ? usageOf(account, bucket) : account.strangers;
  const limits = isKeyValid ? limitsOf(isRevoked ? NO_ACCESS : account.plan) : OF_STRANGERS;
  const windows = count(account, usage, 1, now);
  const exceeded = WINDOWS.find((window) => windows[window].used > limitOf(limits, window));
  const all = {
    'ratelimit-bucket': bucket,
    'ratelimit-validapikey': String(isKeyValid),
    ...headersOf(limits, windows, exceeded, now),
  };
  // Always sent: the limits of 0 are the only sign of revoked access.
  const headers = isRevoked ? all : sentHeaders(account.headers, all, exceeded !== undefined);
  if (exceeded) refund({ usage });
  return { isKeyValid, bucket, refusedBy: isRevoked ? 'revoked' : exceeded, headers, usage };
}

/** Takes a request back from the long windows, after a 429 or 5xx. */
export function refund({ usage: { month, hour } }: Pick<Charge, 'usage'>): void {
  for (const window of [month, hour]) if (window) window.used -= 1;
}

/** v2 accepts a bearer token, v1 the header `apikey` (api-facts 7.1). The exporter does not use the query for keys. */
function keyOf({ path, headers: { apikey, authorization } }: Call): unknown {
  return isV1(path) ? apikey : /^Bearer (.+)$/i.exec(String(authorization))?.[1];
}

export function isV1(path: string): boolean {
  return path.startsWith('/api/v1/');
}

function bucketOf({ buckets }: Account, path: string): string {
  if (buckets === 'version' && !isV1(path)) return 'oldsubnewapi';
  if (buckets !== 'endpoint') return DEFAULT_BUCKET;
  const [, endpoint = ''] = /^\/api\/v\d\/(.*)/.exec(path) ?? [];
  // Without what a path of v1 selects.
  return endpoint.replace(/\/(\d+|latest|finalized|next)\b/, '').replaceAll('/', '_');
}

function usageOf({ usage }: Account, bucket: string): Usage {
  const known = usage.get(bucket) ?? {};
  usage.set(bucket, known);
  return known;
}

function count(account: Account, usage: Usage, requests: number, now: UnixMs): Record<LimitedWindow, Window> {
  const counted = (window: LimitedWindow): Window => {
    const known = usage[window];
    const open = known && isOpen(known, now) ? known : { used: 0, ...spanOf(window, account.month, now) };
    open.used += requests;
    usage[window] = open;
    return open;
  };
  return { month: counted('month'), hour: counted('hour'), second: counted('second') };
}

/** A window in the future is closed: after the clock was set back, it would never end. */
function isOpen({ from, until }: Window, now: UnixMs): boolean {
  return from <= now && now < until;
}

/** The window that a request opens. A second starts with the request, not with the clock. */
function spanOf(window: LimitedWindow, month: Account['month'], now: UnixMs): Pick<Window, 'from' | 'until'> {
  if (window === 'second') return { from: now, until: now + 1000 };
  const hour = now - (now % MS_PER_HOUR);
  if (window === 'hour') return { from: hour, until: hour + MS_PER_HOUR };
  return month === 'thirty_days' ? { from: now, until: now + 30 * MS_PER_DAY } : calendarMonth(now);
}

export function calendarMonth(at: UnixMs): { readonly from: UnixMs; readonly until: UnixMs } {
  const date = new Date(at);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { from: Date.UTC(year, month), until: Date.UTC(year, month + 1) };
}

function limitOf({ perSecond, perHour = Infinity, perMonth = Infinity }: AccountLimits, window: LimitedWindow): number {
  return { month: perMonth, hour: perHour, second: perSecond }[window];
}

function headersOf(
  limits: AccountLimits,
  windows: Readonly<Record<LimitedWindow, Window>>,
  exceeded: LimitedWindow | undefined,
  now: UnixMs,
): Record<string, string> {
  const limit = (window: LimitedWindow): number => limitOf(limits, window);
  const left = (window: LimitedWindow): number => Math.max(0, limit(window) - windows[window].used);
  // The service reports the longest window that is exceeded, and rounds its rest down to whole seconds: a caller that waits
  // exactly this long can be too early.
  const reported = exceeded ?? 'second';
  const reset = String(reported === 'second' ? 1 : Math.floor((windows[reported].until - now) / 1000));
  return {
    'ratelimit-limit': String(limit(reported)),
    'ratelimit-remaining': String(left(reported)),
    'ratelimit-reset': reset,
    'ratelimit-window': reported,
    ...(exceeded ? { 'retry-after': reset } : {}),
    ...perWindow('limit', limits, limit),
    ...perWindow('remaining', limits, left),
  };
}

/** The service has no window of a minute or a day: these headers, and those without a limit, repeat another window's figures. */
function perWindow(what: string, { perHour, perMonth }: AccountLimits, of: (window: LimitedWindow) => number) {
  const month = of(perMonth === undefined ? 'second' : 'month');
  const hour = perHour === undefined ? month : of('hour');
  const figures = { second: of('second'), minute: hour, hour, day: month, month };
  const entries = Object.entries(figures).map(([window, figure]) => [`x-ratelimit-${what}-${window}`, String(figure)]);
  return Object.fromEntries(entries) as Record<string, string>;
}

function sentHeaders(
  { sent, without }: HeaderForm,
  all: Readonly<Record<string, string>>,
  isRefused: boolean,
): Record<string, string> {
  if (sent === 'none' || (sent === 'fallback' && !isRefused)) return {};
  if (sent === 'fallback') return { 'ratelimit-limit': '20', 'ratelimit-reset': '1' };
  const isExtended = (name: string): boolean => name.startsWith('x-');
  const kept = Object.entries(all).filter(
    ([name]) => !without.includes(name) && (sent === 'all' || isExtended(name) === (sent === 'extended')),
  );
  return Object.fromEntries(kept);
}
