import { SECONDS_PER_DAY } from '../toolkit/lib/duration.ts';
import type { Seconds, UnixMs } from '../toolkit/lib/time.ts';

export const WINDOWS = ['second', 'minute', 'hour', 'day', 'month'] as const;

export type WindowName = (typeof WINDOWS)[number];

/** Header names in lower case. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The rate-limit headers of one response. Any may be missing, which does not mean 0. */
export interface Observation {
  readonly bucket: string | undefined;
  readonly limits: Readonly<Partial<Record<WindowName, number>>>;
  readonly remaining: Readonly<Partial<Record<WindowName, number>>>;
  /** Until the reported window resets; not less than `retry-after`. */
  readonly resetSeconds: Seconds | undefined;
  readonly validKey: boolean | undefined;
}

const MAX_BUCKET_NAME = 32;
/** The month is the longest window, so no reset is further away. */
const MAX_WAIT_SECONDS = 32 * SECONDS_PER_DAY;

/**
 * Reads the rate-limit headers (api-facts 6.1). A wait may be an HTTP date by the service's clock, so it is compared with the `date` of
 * the same response, or else with `now`.
 */
export function readHeaders(headers: Headers, now: UnixMs): Observation {
  const limits: Partial<Record<WindowName, number>> = {};
  const remaining: Partial<Record<WindowName, number>> = {};
  for (const window of WINDOWS) {
    const limit = countIn(headers[`x-ratelimit-limit-${window}`]);
    const left = countIn(headers[`x-ratelimit-remaining-${window}`]);
    if (limit !== undefined) limits[window] = limit;
    if (left !== undefined) remaining[window] = left;
  }
  const sentAt = httpDate(first(headers['date'])) ?? now;
  const waits = ['ratelimit-reset', 'retry-after'].flatMap((name) => wait(first(headers[name]), sentAt) ?? []);
  return {
    bucket: bucketName(first(headers['ratelimit-bucket'])),
    limits,
    remaining,
    resetSeconds: waits.length === 0 ? undefined : Math.max(...waits),
    validKey: flagIn(first(headers['ratelimit-validapikey'])),
  };
}

/** When the service sent the response, by its clock. A response with an `age` comes from a cache, with an old `date`. */
export function sentAtOf(headers: Headers): UnixMs | undefined {
  return headers['age'] === undefined ? httpDate(first(headers['date'])) : undefined;
}

/** Access ended for good: at least one limit is present and every present one is 0 (api-facts 6.3). */
export function isRevoked(status: number, headers: Headers): boolean {
  if (status !== 429) return false;
  const present = WINDOWS.flatMap((window) => countIn(headers[`x-ratelimit-limit-${window}`]) ?? []);
  return present.length > 0 && present.every((limit) => limit === 0);
}

function first(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}

/**
 * Buckets are properties of an object, so a name that every object has, such as `constructor`, would look like a known bucket.
 */
export function isBucketName(name: string): boolean {
  return !(name in Object.prototype);
}

/** Shortens the name and removes invisible characters, because labels and terminals show it. */
function bucketName(text: string | undefined): string | undefined {
  const name = text?.replaceAll(/[^\w-]/g, '').slice(0, MAX_BUCKET_NAME);
  return name && isBucketName(name) ? name : undefined;
}

function countIn(value: string | readonly string[] | undefined): number | undefined {
  const text = first(value)?.trim();
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function wait(text: string | undefined, sentAt: UnixMs): Seconds | undefined {
  if (text === undefined) return undefined;
  const trimmed = text.trim();
  const untilDate = ((httpDate(trimmed) ?? Number.NaN) - sentAt) / 1000;
  const seconds = /^\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : untilDate;
  return seconds >= 0 && seconds <= MAX_WAIT_SECONDS ? seconds : undefined;
}

/** Only the day-name form of RFC 9110: Date.parse alone reads "-5" as a year. */
function httpDate(text: string | undefined): UnixMs | undefined {
  if (text === undefined || !/^[A-Z][a-z]{2,}, /.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

function flagIn(text: string | undefined): boolean | undefined {
  return text === 'true' ? true : text === 'false' ? false : undefined;
}
