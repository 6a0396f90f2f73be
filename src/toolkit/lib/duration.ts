import type { Milliseconds } from './time.ts';

export const MS_PER_MINUTE = 60_000;
export const MS_PER_HOUR = 60 * MS_PER_MINUTE;
export const MS_PER_DAY = 24 * MS_PER_HOUR;
export const SECONDS_PER_DAY = MS_PER_DAY / 1000;

type Unit = readonly [name: string, ms: Milliseconds];

/** The units of a Prometheus duration, in the order in which they must appear. */
const UNITS: readonly Unit[] = [
  ['y', 365 * MS_PER_DAY],
  ['w', 7 * MS_PER_DAY],
  ['d', MS_PER_DAY],
  ['h', MS_PER_HOUR],
  ['m', MS_PER_MINUTE],
  ['s', 1000],
  ['ms', 1],
];

const SYNTAX = new RegExp(`^${UNITS.map(([unit]) => `(?:(\\d+)${unit})?`).join('')}$`);

/** The same syntax as a JSON Schema pattern. */
export const DURATION_PATTERN = `^(?:0|(?=.)${UNITS.map(([unit]) => `(?:\\d+${unit})?`).join('')})$`;

/**
 * Reads a duration such as `1h30m`; undefined for any other text. Only `0` may omit its unit.
 * https://prometheus.io/docs/prometheus/latest/configuration/configuration/#configuration-file
 */
export function parseDuration(text: string): Milliseconds | undefined {
  if (text === '0') return 0;
  const amounts = text === '' ? undefined : SYNTAX.exec(text)?.slice(1);
  if (!amounts) return undefined;
  const ms = UNITS.reduce((sum, [, size], i) => sum + Number(amounts[i] ?? 0) * size, 0);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/**
 * The duration as text, rounded to milliseconds. Years and weeks appear only if the duration is a whole number of them:
 * 90d, not 12w6d.
 */
export function formatDuration(ms: Milliseconds): string {
  const rounded = Math.round(ms);
  const even = UNITS.slice(0, 2).find(([, size]) => rounded % size === 0);
  return inUnits(rounded, even ? [even] : UNITS.slice(2), '') || '0s';
}

/** The same, rounded to seconds. */
export function formatSeconds(ms: Milliseconds): string {
  return formatDuration(Math.round(ms / 1000) * 1000);
}

/** The amount of each unit, largest unit first. A remainder below the last unit is dropped. */
export function inUnits(ms: Milliseconds, units: readonly Unit[], gap: '' | ' '): string {
  let left = ms;
  return units
    .flatMap(([unit, size]) => {
      const amount = Math.floor(left / size);
      left -= amount * size;
      return amount > 0 ? [`${amount}${gap}${unit}`] : [];
    })
    .join(gap);
}
