import { expect, it } from 'vitest';
import { watchOf } from '../../../src/facts/watch.ts';
import { NO_SLASHINGS } from '../../../src/sources/slashings/count.ts';
import { prune } from '../../../src/sources/slashings/retention.ts';
import type { Slashings } from '../../../src/sources/slashings/state.ts';

const SCANNED = 400_000;
const FIRST_OPEN_SLOT = (SCANNED + 1) * 32;
const SLOTS_IN_31_DAYS = 31 * 7_200;
const MOST = 100_000;

function pruned(state: Partial<Slashings>, watched: number[] = []): Slashings {
  const watch = watchOf(watched.map((index) => ({ first: index, last: index })));
  return prune({ ...NO_SLASHINGS, scannedEpoch: SCANNED, ...state }, watch);
}

/** `count` entries, newest first, one slot apart, up to the slot before `end`. */
function entries<K>(count: number, end: number, key: (i: number) => K): [K, number][] {
  return Array.from({ length: count }, (_, i) => [key(i), end - 1 - i]);
}

it('drops nothing before the first finalized epoch is counted', () => {
  const state = { ...NO_SLASHINGS, seen: [['a', 1] as [string, number]] };
  expect(prune(state, [])).toEqual(state);
});

it('keeps identities for 31 days', () => {
  const oldest = FIRST_OPEN_SLOT - SLOTS_IN_31_DAYS;
  const seen = entries(2, oldest + 1, String).toReversed();
  expect(pruned({ seen }).seen).toEqual([['0', oldest]]);
});

it('keeps the newest 100,000 entries of each list', () => {
  const seen = entries(MOST + 3, FIRST_OPEN_SLOT, String);
  const slashed = entries(MOST + 3, FIRST_OPEN_SLOT, Number);
  expect(pruned({ seen: seen.slice(3) }).seen).toHaveLength(MOST);
  const state = pruned({ seen, slashed });
  expect(state.seen).toEqual(seen.slice(0, MOST));
  expect(state.slashed).toEqual(slashed.slice(0, MOST));
});

it('keeps watched validators for good', () => {
  const slashed = entries(MOST + 2, FIRST_OPEN_SLOT, Number);
  const kept = pruned({ slashed }, [MOST + 1]).slashed;
  expect(kept).toHaveLength(MOST);
  expect(kept.at(-1)).toEqual([MOST + 1, FIRST_OPEN_SLOT - MOST - 2]);
});
