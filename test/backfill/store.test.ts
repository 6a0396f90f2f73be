import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Plan, splitSpan } from '../../src/backfill/plan.ts';
import { Store } from '../../src/backfill/store.ts';
import type { History } from '../../src/sources/history.ts';
import { temporaryFolder } from '../support/files/files.ts';
import { planOf } from '../support/programs/backfill.ts';

type Item = readonly [group: string, at: number, id: number];
type Slice = Plan['slices'][number];

const HISTORY = { group: ([group]: Item) => group, at: ([, at]: Item) => at } as unknown as History;
const PLAN = planOf(splitSpan({ start: 0, end: 300 }, 100), 300);
const [FIRST, SECOND, THIRD] = PLAN.slices as [Slice, Slice, Slice];
const ALL = { from: 0, to: Number.MAX_SAFE_INTEGER };

function newFolder(): string {
  return join(temporaryFolder(), 'past.om.backfill');
}

function page(next: string | null, records: readonly unknown[] = [], bad = 0) {
  return { next, left: next === null ? 0 : 5, bad, records };
}

function recordsIn(store: Store, span = ALL): unknown[] {
  return [...store.groups('machines', span)].flat();
}

it('continues after a restart: plan, cursors, complete slices and problems', async () => {
  const folder = newFolder();
  {
    using store = await Store.open(folder);
    expect(store.plan()).toBeUndefined();
    store.save(PLAN);
    store.keep(FIRST, HISTORY, page('two', [['a', 1, 1]], 2));
    store.keep(FIRST, HISTORY, page('three', [['a', 2, 2]], 1));
    store.keep(SECOND, HISTORY, { ...page(null), ending: 'empty_pages' });
  }
  using store = await Store.open(folder);
  expect(store.plan()).toEqual(PLAN);
  expect([FIRST, SECOND, THIRD].map((slice) => store.cursorOf(slice))).toEqual(['three', undefined, undefined]);
  expect(store.left()).toEqual(
    new Map([
      [FIRST.id, 5],
      [SECOND.id, 0],
    ]),
  );
  expect(store.flaws()).toEqual({ bad: 3, endings: ['empty_pages'] });
  expect(recordsIn(store)).toEqual([
    ['a', 1, 1],
    ['a', 2, 2],
  ]);
});

it('keeps a whole page with its cursor, or nothing', async () => {
  const folder = newFolder();
  {
    using store = await Store.open(folder);
    store.keep(FIRST, HISTORY, page('two', [['a', 1, 1]]));
    const broken = page('three', [['a', 2, 2], null]);
    expect(() => store.keep(FIRST, HISTORY, broken)).toThrow(TypeError);
  }
  using store = await Store.open(folder);
  expect(store.cursorOf(FIRST)).toBe('two');
  expect(recordsIn(store)).toEqual([['a', 1, 1]]);
});

it('returns the records of a span by group and time, equal times in order of arrival', async () => {
  const items = fc.array(fc.tuple(fc.constantFrom('b', 'a', 'ü', 'B'), fc.constantFrom(1, 2, 2.5, 3, 4), fc.nat()), {
    maxLength: 30,
  });
  await fc.assert(
    fc.asyncProperty(items, async (records) => {
      using store = await Store.open(newFolder());
      store.keep(FIRST, HISTORY, page('next', records));
      const within = records.filter(([, at]) => at >= 2 && at < 4);
      const byGroup = ['B', 'a', 'b', 'ü'].map((wanted) =>
        within.filter(([group]) => group === wanted).toSorted(([, a], [, b]) => a - b),
      );
      const groups = [...store.groups('machines', { from: 2, to: 4 })];
      expect(groups).toEqual(byGroup.filter(({ length }) => length > 0));
    }),
    { numRuns: 10 },
  );
});
