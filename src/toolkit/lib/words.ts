import { inUnits, MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE } from './duration.ts';
import type { Milliseconds, UnixMs } from './time.ts';

const UNITS = [
  ['d', MS_PER_DAY],
  ['h', MS_PER_HOUR],
  ['min', MS_PER_MINUTE],
  ['s', 1_000],
] as const;

/** A duration, rounded according to its size: `45 s`, `2 h 8 min`, `12 d 4 h`. */
export function span(ms: Milliseconds): string {
  const size = Math.abs(ms);
  const step = size < 10 * MS_PER_MINUTE ? 1_000 : size < 2 * MS_PER_DAY ? MS_PER_MINUTE : MS_PER_HOUR;
  return inUnits(Math.round(size / step) * step, UNITS, ' ') || '0 s';
}

/** https://tc39.es/ecma262/#sec-time-values-and-time-range */
const LATEST_DATE_MS = 8.64e15;

/** A time as `30 s ago`, `in 2 h`. */
export function relative(at: UnixMs, now: UnixMs): string {
  if (Math.abs(at) > LATEST_DATE_MS) return 'unknown';
  if (Math.abs(at - now) < 500) return 'now';
  return at <= now ? `${span(now - at)} ago` : `in ${span(at - now)}`;
}

/** A time in UTC, without the date if it is today. Undefined if Date cannot represent it. */
export function absolute(at: UnixMs, now: UnixMs): string | undefined {
  if (!(Math.abs(at) <= LATEST_DATE_MS)) return undefined;
  const text = utc(at);
  const day = text.slice(0, text.indexOf(' ') + 1);
  return utc(now).startsWith(day) ? text.slice(day.length) : text;
}

/** A time as `2026-10-01 12:01:00 UTC`. */
export function utc(at: UnixMs): string {
  return `${new Date(at).toISOString().slice(0, -5).replace('T', ' ')} UTC`;
}

/** A whole number with thousands separators. */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en-GB');
}

/** `1 file`, `2 files`. */
export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** A name such as `daily_returns` as words. */
export function spaced(name: string): string {
  return name.replaceAll('_', ' ');
}

const MAX_LISTED = 5;

/** `a, b, c`; only the first few of many names. */
export function listed(names: readonly (string | number)[]): string {
  return `${names.slice(0, MAX_LISTED).join(', ')}${names.length > MAX_LISTED ? ' and others' : ''}`;
}

const BYTES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** An amount of bytes in decimal units, with two or three digits. */
export function bytes(value: number): string {
  let amount = value;
  let unit = 0;
  while (amount >= 999.5 && unit < BYTES.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  return `${amount < 10 && unit > 0 ? amount.toFixed(1) : Math.round(amount)} ${BYTES[unit]}`;
}

/** A share of 1 as `62 %`. */
export function percent(share: number, digits = 0): string {
  return `${(share * 100).toFixed(digits)} %`;
}

/** The beginning of a text that may be very long. */
export function cropped(text: string, most: number): string {
  const characters = Array.from(text.slice(0, 2 * most + 2));
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
}
