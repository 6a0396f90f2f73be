import * as fc from 'fast-check';
import { WINDOWS } from '../../src/budget/headers.ts';

const NAMES = [
  ...WINDOWS.flatMap((window) => [`x-ratelimit-limit-${window}`, `x-ratelimit-remaining-${window}`]),
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-window',
  'ratelimit-reset',
  'ratelimit-bucket',
  'ratelimit-validapikey',
  'retry-after',
];

const value = fc.oneof(
  fc.nat(2_000).map(String),
  fc.constantFrom('0', '1', '-1', '', ' ', '1e3', '1.5', 'NaN', 'Infinity', '999999999999999', '9'.repeat(400), '0x10'),
  fc.constantFrom('Wed, 21 Oct 2015 07:28:00 GMT', 'Fri, 31 Dec 9999 23:59:59 GMT', 'Xxx, 99', '2764800', '2764801'),
  fc.constantFrom('true', 'false', 'TRUE', 'second', 'month', 'year', 'default', '__proto__', 'constructor', 'ü, "'),
  fc.string({ unit: 'binary' }),
);

/** Rate-limit headers with arbitrary values. */
export const oddHeaders: fc.Arbitrary<Record<string, string>> = fc.dictionary(fc.constantFrom(...NAMES), value, {
  noNullPrototype: true,
});
