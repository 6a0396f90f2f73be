import fc from 'fast-check';
import { expect, it } from 'vitest';
import { watchedCount, watches, watchOf } from '../../src/facts/watch.ts';

const range = fc.tuple(fc.nat(60), fc.nat(8)).map(([first, length]) => ({ first, last: first + length }));

it('watches exactly the validators in the ranges, counts each once, and merges ranges that touch', () => {
  fc.assert(
    fc.property(fc.array(range, { maxLength: 12 }), (ranges) => {
      const named = Array.from({ length: 80 }, (_, i) => ranges.some(({ first, last }) => first <= i && i <= last));
      const watch = watchOf(ranges);
      expect(named.map((_, i) => watches(watch, i))).toEqual(named);
      expect(watchedCount(watch)).toBe(named.filter(Boolean).length);
      expect(watch).toHaveLength(named.filter((one, i) => one && !named[i - 1]).length);
    }),
  );
});
