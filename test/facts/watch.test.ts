import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { watchedCount, watches, watchOf } from '../../src/facts/watch.ts';

const range = fc.tuple(fc.nat(60), fc.nat(8)).map(([first, length]) => ({ first, last: first + length }));

describe('sources/slashings/watch', () => {
  it('merges ranges that overlap, touch or repeat', () => {
    const ranges = [
      { first: 8, last: 9 },
      { first: 1, last: 3 },
      { first: 4, last: 5 },
      { first: 2, last: 2 },
      { first: 12, last: 12 },
    ];
    expect(watchOf(ranges)).toEqual([
      { first: 1, last: 5 },
      { first: 8, last: 9 },
      { first: 12, last: 12 },
    ]);
    expect(ranges[0]).toEqual({ first: 8, last: 9 });
  });

  it('watches exactly the validators that some range names, and counts each once', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 12 }), (ranges) => {
        const named = Array.from({ length: 80 }, (_, i) => ranges.some(({ first, last }) => first <= i && i <= last));
        const watch = watchOf(ranges);
        expect(named.map((_, i) => watches(watch, i))).toEqual(named);
        expect(watchedCount(watch)).toBe(named.filter(Boolean).length);
      }),
    );
  });
});
