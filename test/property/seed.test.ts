import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

describe('property/seed', () => {
  it('properties draw the same cases in every run', () => {
    const drawn = (): number[] => {
      const seen: number[] = [];
      fc.assert(fc.property(fc.integer(), (n) => void seen.push(n)));
      return seen;
    };
    expect(drawn()).toEqual(drawn());
  });
});
