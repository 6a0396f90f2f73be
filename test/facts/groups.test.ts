import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { groupLabel, watchedGroupOf, watchedGroups } from '../../src/facts/groups.ts';
import { indicesOf, watches, watchOf } from '../../src/facts/watch.ts';

const range = (first: number, last = first) => ({ first, last });

it('lists the groups in their order, then the rest, without groups that have no validators', () => {
  const groups = [
    { name: 'office', watch: watchOf([range(5), range(20, 25)]) },
    { name: 'machines only', watch: [] },
    { name: 'home', watch: watchOf([range(1, 2)]) },
  ];
  expect(watchedGroups(watchOf([range(1, 10), range(22, 30)]), groups)).toEqual([
    { group: 'office', watch: [range(5), range(20, 25)] },
    { group: 'home', watch: [range(1, 2)] },
    { watch: [range(3, 4), range(6, 10), range(26, 30)] },
  ]);
});

it('lists every watched or grouped validator once, in its first group', () => {
  const set = fc.uniqueArray(fc.nat(40), { maxLength: 20 });
  fc.assert(
    fc.property(set, set, set, (all, mine, yours) => {
      const watchOfAll = (indices: number[]) => watchOf(indices.map((index) => range(index)));
      const groups = watchedGroups(watchOfAll(all), [
        { name: 'home', watch: watchOfAll(yours) },
        { name: 'office', watch: watchOfAll(mine) },
      ]);
      const found = groups.flatMap(({ watch }) => [...indicesOf(watch)]);
      const expected = [...new Set([...all, ...mine, ...yours])].toSorted((a, b) => a - b);
      expect(found.toSorted((a, b) => a - b)).toEqual(expected);
      for (const one of expected) {
        const group = yours.includes(one) ? 'home' : mine.includes(one) ? 'office' : undefined;
        expect(groupLabel(watchedGroupOf(groups, one)?.group)).toEqual(group === undefined ? {} : { group });
        expect(groups.filter(({ watch }) => watches(watch, one))).toHaveLength(1);
      }
    }),
  );
});
