import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { between, hash32, hexOf, seedOf, unit } from '../../src/lib/random.ts';

describe('lib/random', () => {
  it('gives the same number for the same parts, on every machine', () => {
    expect([hash32(1, 2, 3), hash32(1, 2, 3), hash32()]).toEqual([hash32(1, 2, 3), hash32(1, 2, 3), 0x9e3779b9]);
    expect(hexOf(32, 7)).toBe(hexOf(32, 7));
    // Published test vectors of FNV-1a.
    expect([seedOf(''), seedOf('a'), seedOf('foobar')]).toEqual([0x811c9dc5, 0xe40c292c, 0xbf9cf968]);
  });

  it('stays within its bounds', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.integer({ min: -9, max: 9 }), fc.nat({ max: 20 }), (parts, low, span) => {
        expect(unit(...parts)).toBeGreaterThanOrEqual(0);
        expect(unit(...parts)).toBeLessThan(1);
        const whole = between(low, low + span, ...parts);
        expect(Number.isInteger(whole) && whole >= low && whole <= low + span).toBe(true);
      }),
    );
  });
});
