import { describe, expect, it } from 'vitest';
import { type Group, groupsIn } from '../../src/backfill/groups.ts';
import { slicesOf } from '../../src/backfill/plan.ts';
import { Store } from '../../src/backfill/store.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { History } from '../../src/sources/history.ts';
import { noSignal } from '../support/timing.ts';

type Item = readonly [group: string, at: number, stream: string, text: string];

const HISTORY = {
  group: ([group]: Item) => group,
  at: ([, at]: Item) => at,
  stream: ([, , stream]: Item) => stream,
} as unknown as History;
const HISTORIES = new Map([
  ['one', HISTORY],
  ['two', HISTORY],
]);
const SPAN = { from: 10, to: 20 };

async function storeOf(records: Readonly<Record<string, readonly Item[]>>): Promise<Store> {
  const store = await Store.open(':memory:');
  for (const [i, [source, items]] of Object.entries(records).entries()) {
    const [slice] = slicesOf(source, [{ start: 0, end: 1 }], 1, i);
    if (slice) store.keep(slice, HISTORY, { next: null, bad: 0, records: items });
  }
  return store;
}

async function groupsOf(store: Store, signal: AbortSignal): Promise<Group[]> {
  const groups: Group[] = [];
  for await (const group of groupsIn({ store, clock: systemClock, histories: HISTORIES }, SPAN, signal)) {
    groups.push(group);
  }
  return groups;
}

describe('backfill/groups', () => {
  it('gives each group of each source once, in ascending time, and of duplicates the first', async () => {
    const store = await storeOf({
      two: [['a', 12, 'x', 'of two']],
      one: [
        ['b', 15, 'x', 'late'],
        ['b', 12, 'x', 'first'],
        ['a', 9, 'x', 'before'],
        ['b', 12, 'y', 'of another stream'],
        ['b', 12, 'x', 'again'],
        ['a', 19.9, 'x', 'last'],
        ['a', 20, 'x', 'behind'],
      ],
    });
    const groups = await groupsOf(store, noSignal());
    const seen = groups.map(({ records, duplicates }) => [(records as Item[]).map(([, , , text]) => text), duplicates]);
    expect(seen).toEqual([
      [['last'], 0],
      [['first', 'of another stream', 'late'], 1],
      [['of two'], 0],
    ]);
    store.close();
  });

  it('ends between two groups when it is told to stop', async () => {
    const store = await storeOf({ one: Array.from({ length: 1_000 }, (_, i): Item => [`group-${i}`, 12, 'x', '']) });
    const abort = new AbortController();
    setTimeout(() => abort.abort(new Error('stopped')), 5);
    await expect(groupsOf(store, abort.signal)).rejects.toThrow('stopped');
    // It can be read again.
    expect(store.count('one', SPAN)).toBe(1_000);
    store.close();
  });
});
