import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../../src/toolkit/lib/duration.ts';

it.each([
  ['0', 0],
  ['250ms', 250],
  ['5m', 300_000],
  ['1h30m', 5_400_000],
  ['2w', 1_209_600_000],
  ['1y2w3d4h5m6s7ms', 33_019_506_007],
  ['90m', 5_400_000],
])('reads %s', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

it.each(['', ' ', '5', '00', '5 m', '5M', '1.5h', '-1s', '+1s', '1m1h', '1s1s', 'h', '5 minutes', '1h ', '999999999y'])(
  'refuses %j',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

it('reads back every duration that it writes', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (ms) => {
      expect(parseDuration(formatDuration(ms))).toBe(ms);
    }),
  );
});

it.each([
  [0, '0s'],
  [60_000, '1m'],
  [90_000, '1m30s'],
  [86_400_000 * 31, '31d'],
  [86_400_000 * 14, '2w'],
  [86_400_000 * 366, '366d'],
  [1234.5, '1s235ms'],
])('writes %d ms as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
