import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SlotRow } from '../../../src/api/answers/slots.ts';
import { canonicalRows } from '../../../src/sources/slashings/blocks.ts';
import { epochRows, type Fields, row } from '../../support/answers/slot-rows.ts';

function parsed(rows: readonly Fields[]): SlotRow[] {
  return rows.map((one) => SlotRow.parse(one));
}

it('lists each slot once, ascending, for any order and number of rows', () => {
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
