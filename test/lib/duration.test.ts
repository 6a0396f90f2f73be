import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../src/lib/duration.ts';

describe('lib/duration', () => {
  it.each([
    ['0', 0],
    ['0s', 0],
    ['250ms', 250],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['31d', 2_678_400_000],
    ['2w', 1_209_600_000],
    ['1y', 31_536_000_000],
    ['1y2w3d4h5m6s7ms', 33_019_506_007],
    ['90m', 5_400_000],
  ])('reads %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    '',
    ' ',
    '5',
    '00',
    '5 m',
    '5M',
    '1.5h',
    '-1s',
    '+1s',
    '1m1h',
    '1s1s',
    'h',
    '5 minutes',
    '1h ',
    '999999999y',
  ])('refuses %j', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it('reads back every duration that it writes', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
    );
  });

  it('reads amounts of any units in order as their sum', () => {
    const units = ['d', 'h', 'm', 's', 'ms'] as const;
    const sizes = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
    fc.assert(
      fc.property(fc.subarray([...units], { minLength: 1 }), fc.nat(100_000), (chosen, amount) => {
        const sum = chosen.reduce((ms, unit) => ms + amount * sizes[unit], 0);
        expect(parseDuration(chosen.map((unit) => `${amount}${unit}`).join(''))).toBe(sum);
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
});
