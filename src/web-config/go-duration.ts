import type { Milliseconds } from '../lib/time.ts';

const UNITS_MS: Readonly<Record<string, Milliseconds>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

// Both characters for micro, as escapes: the build cannot write an escape in a regular expression.
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;

/** A duration such as `1m30s` or `0.5s`; undefined for any other text. https://pkg.go.dev/time#ParseDuration */
export function parseGoDuration(text: string): Milliseconds | undefined {
  if (text === '0') return 0;
  let ms = 0;
  PART.lastIndex = 0;
  for (let read = 0; read < text.length; read = PART.lastIndex) {
    const [, amount, unit] = PART.exec(text) ?? [];
    if (unit === undefined) return undefined;
    ms += Number(amount) * (UNITS_MS[unit] ?? Number.NaN);
  }
  return text === '' ? undefined : ms;
}
