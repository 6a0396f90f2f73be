import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SlotRow } from '../../../src/api/answers/slots.ts';
import { canonicalRows } from '../../../src/sources/slashings/blocks.ts';
import { epochRows, type Fields, rootOf, row } from '../../support/answers/slot-rows.ts';

function parsed(rows: readonly Fields[]): SlotRow[] {
  return rows.map((one) => SlotRow.parse(one));
}

/** Status and root of what speaks for each slot. */
function chosen(...rows: Fields[]): unknown[] {
  return canonicalRows(parsed(rows)).map(({ slot, status, blockroot }) => [slot, status, blockroot]);
}

/** A second block of the same slot. */
function fork(slot: number, n: number, fields: Fields = {}): Fields {
  return row({ slot, blockroot: rootOf(slot, n), ...fields });
}

it('gives each slot once, ascending, whatever the order and number of rows', () => {
  const rows = parsed([...epochRows(3), row({ slot: 96, status: '3', blockroot: '0xa' }), row({ slot: 99 })]);
  fc.assert(
    fc.property(fc.shuffledSubarray(rows, { minLength: rows.length }), (shuffled) => {
      expect(canonicalRows(shuffled).map(({ slot, status }) => [slot, status])).toEqual(
        Array.from({ length: 32 }, (_, i) => [96 + i, '1']),
      );
    }),
  );
  expect(canonicalRows([])).toEqual([]);
});

it('prefers a canonical block to an orphaned one, that to a missed slot, and that to a scheduled one', () => {
  const rows = ['0', '2', '3', '1'].map((status) => row({ slot: 5, status }));
  expect(canonicalRows(parsed(rows))[0]?.status).toBe('1');
  expect(canonicalRows(parsed(rows.slice(0, 3)))[0]?.status).toBe('3');
  expect(canonicalRows(parsed(rows.slice(0, 2)))[0]?.status).toBe('2');
});

it('takes of two blocks that both say canonical the one that a later block names as its parent', () => {
  const later = row({ slot: 6, parentroot: rootOf(5, 1) });
  expect(chosen(row({ slot: 5 }), fork(5, 1), later)[0]).toEqual([5, '1', rootOf(5, 1)]);
  expect(chosen(later, fork(5, 1), row({ slot: 5 }))[0]).toEqual([5, '1', rootOf(5, 1)]);
  const other = row({ slot: 6, parentroot: rootOf(4) });
  expect(chosen(row({ slot: 5 }), fork(5, 1), other)[0]).toEqual([5, '3', rootOf(5)]);
  expect(chosen(row({ slot: 5 }), fork(5, 1))).toEqual([[5, '0', rootOf(5)]]);
});

it('follows the chain back through a fork of several blocks that all say canonical', () => {
  const forked = [fork(5, 1), fork(6, 1, { parentroot: rootOf(5, 1) })];
  const rows = [row({ slot: 5 }), row({ slot: 6 }), ...forked, row({ slot: 8, parentroot: rootOf(6, 1) })];
  expect(chosen(...rows).slice(0, 2)).toEqual([
    [5, '1', rootOf(5, 1)],
    [6, '1', rootOf(6, 1)],
  ]);
});
