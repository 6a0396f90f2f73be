import { describe, expect, it } from 'vitest';
import { etherOf } from '../../src/facts/ether.ts';

describe('lib/ether', () => {
  it.each([
    ['0', 0],
    ['1', 1e-18],
    ['-1', -1e-18],
    ['999999999999999999', 1],
    ['1000000000000000000', 1],
    ['-1500000000000000000', -1.5],
    ['123456789012345678', 0.12345678901234568],
    ['35000000000000000000000000', 35e6],
    // Half way between two doubles, and a wei above: dividing a number by 1e18 would round twice.
    ['9007199254740993000000000000000000', 9_007_199_254_740_992],
    ['9007199254740993000000000000000001', 9_007_199_254_740_994],
  ])('reads %s wei as the nearest double', (wei, ether) => {
    expect(etherOf(wei)).toBe(ether);
  });
});
