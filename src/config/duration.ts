/** The units of a Prometheus duration, in the order in which they must appear, in milliseconds. */
const UNITS = [
  ['y', 365 * 86_400_000],
  ['w', 7 * 86_400_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

const SYNTAX = new RegExp(`^${UNITS.map(([unit]) => `(?:(\\d+)${unit})?`).join('')}$`);

/** The same for a JSON Schema. */
export const DURATION_PATTERN = `^(?:0|(?=.)${UNITS.map(([unit]) => `(?:\\d+${unit})?`).join('')})$`;

/**
 * Milliseconds of a duration such as `1h30m`; undefined if it is none. Only `0` may lack a unit.
 * https://prometheus.io/docs/prometheus/latest/configuration/configuration/#configuration-file
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const amounts = text === '' ? undefined : SYNTAX.exec(text)?.slice(1);
  if (!amounts) return undefined;
  const ms = UNITS.reduce((sum, [, size], i) => sum + Number(amounts[i] ?? 0) * size, 0);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** The duration as text, rounded to milliseconds. Years and weeks are used only for whole ones: 90d, not 12w6d. */
export function formatDuration(ms: number): string {
  let left = Math.round(ms);
  if (left === 0) return '0s';
  let text = '';
  for (const [unit, size] of UNITS) {
    const wholeOnly = unit === 'y' || unit === 'w';
    const amount = wholeOnly && left % size !== 0 ? 0 : Math.floor(left / size);
    if (amount > 0) text += `${amount}${unit}`;
    left -= amount * size;
  }
  return text;
}
