import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Plan, slicesOf, splitSpan } from '../../src/backfill/plan.ts';
import { isInUse, Store } from '../../src/backfill/store.ts';
import type { History } from '../../src/sources/history.ts';
import { planOf } from '../support/backfill.ts';
import { temporaryFolder } from '../support/files.ts';

type Item = readonly [group: string, at: number, id: number];

const HISTORY = { group: ([group]: Item) => group, at: ([, at]: Item) => at } as unknown as History;
const SLICES = slicesOf('machines', splitSpan({ start: 0, end: 300 }, 100), 3, 0);
const [FIRST, SECOND, THIRD] = SLICES as [Slice, Slice, Slice];
const PLAN = { ...planOf(SLICES, 300), chains: ['mainnet'] };
const ALL = { from: 0, to: Number.MAX_SAFE_INTEGER };

type Slice = Plan['slices'][number];

function file(): string {
  return join(temporaryFolder(), 'run.db');
}

function page(next: string | null, records: readonly unknown[] = [], bad = 0) {
  return { next, bad, records };
}

/** What a process finds that starts after this one was killed. */
async function reopened(store: Store, path: string): Promise<Store> {
  store.close();
  return Store.open(path);
}

function recordsIn(store: Store, span = ALL): unknown[] {
  return [...store.sorted('machines', span)].map(({ record }) => record);
}

describe('backfill/store', () => {
  it('goes on where it was: plan, cursors, complete slices and flaws', async () => {
    const path = file();
    let store = await Store.open(path);
    expect(store.plan()).toBeUndefined();
    store.save(PLAN);
    store.keep(FIRST, HISTORY, page('two', [['a', 1, 1]], 2));
    store.keep(FIRST, HISTORY, page('three', [['a', 2, 2]], 1));
    store.keep(SECOND, HISTORY, { ...page(null), ending: 'empty_pages' });
    store = await reopened(store, path);
    expect(store.plan()).toEqual(PLAN);
    expect([FIRST, SECOND, THIRD].map((slice) => store.cursorOf(slice))).toEqual(['three', undefined, undefined]);
    expect(store.completeSlices()).toEqual(new Set([SECOND.id]));
    expect(store.flaws()).toEqual({ bad: 3, endings: ['empty_pages'] });
    expect([...store.recordsOf(FIRST)]).toEqual([
      ['a', 1, 1],
      ['a', 2, 2],
    ]);
    store.close();
  });

  it('keeps all of a page and its cursor, or nothing', async () => {
    const path = file();
    let store = await Store.open(path);
    store.keep(FIRST, HISTORY, page('two', [['a', 1, 1]]));
    const broken = page('three', [['a', 2, 2], null]);
    expect(() => store.keep(FIRST, HISTORY, broken)).toThrow(TypeError);
    store = await reopened(store, path);
    expect(store.cursorOf(FIRST)).toBe('two');
    expect(recordsIn(store)).toEqual([['a', 1, 1]]);
    store.close();
  });

  it('drops what belongs to slices that are no longer in the plan', async () => {
    const store = await Store.open(file());
    store.keep(FIRST, HISTORY, page(null, [['a', 1, 1]], 1));
    store.keep(SECOND, HISTORY, page(null, [['a', 101, 2]]));
    store.save({ ...PLAN, slices: [SECOND, THIRD] });
    expect(store.completeSlices()).toEqual(new Set([SECOND.id]));
    expect(store.flaws().bad).toBe(0);
    expect(recordsIn(store)).toEqual([['a', 101, 2]]);
    store.close();
  });

  it('gives the records of a span by group and time, those of one time as they came', async () => {
    const items = fc.array(fc.tuple(fc.constantFrom('b', 'a', 'ü', 'B'), fc.constantFrom(1, 2, 2.5, 3, 4), fc.nat()), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(items, async (records) => {
        const store = await Store.open(':memory:');
        for (const record of records) store.keep(FIRST, HISTORY, page('next', [record]));
        const within = records.filter(([, at]) => at >= 2 && at < 4);
        const byGroup = ['B', 'a', 'b', 'ü'].flatMap((wanted) =>
          within.filter(([group]) => group === wanted).toSorted(([, a], [, b]) => a - b),
        );
        expect(recordsIn(store, { from: 2, to: 4 })).toEqual(byGroup);
        expect(store.count('machines', { from: 2, to: 4 })).toBe(within.length);
        store.close();
      }),
      { numRuns: 50 },
    );
  });

  it('keeps a second process out', async () => {
    const path = file();
    const store = await Store.open(path);
    await expect(Store.open(path)).rejects.toSatisfy(isInUse);
    store.close();
    (await Store.open(path)).close();
  });

  it('refuses the tables of another version, and leaves them as they are', async () => {
    const path = file();
    const other = new DatabaseSync(path);
    other.exec('CREATE TABLE page (id INTEGER); PRAGMA user_version = 7');
    other.close();
    await expect(Store.open(path)).rejects.toThrow('was written by another version of this program');
    const left = new DatabaseSync(path);
    expect(left.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'page' }]);
    left.close();
  });
});
