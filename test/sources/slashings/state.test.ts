import { expect, it } from 'vitest';
import { AttesterSlashing, SlotRow, V1List } from '../../../src/api/answers/slots.ts';
import { readRecord } from '../../../src/api/reading.ts';
import { row, slashing } from '../../support/answers/slot-rows.ts';

it('reads a missed row with nulls or without the keys', () => {
  const missed = row({ slot: 12751457, status: '2' });
  expect(SlotRow.parse(missed)).toMatchObject({ slot: 12751457, status: '2', attestationscount: 0 });
  const { slot, epoch, status } = missed;
  expect(SlotRow.parse({ slot, epoch, status })).toMatchObject({ attesterslashingscount: 0, withdrawalcount: 0 });
});

it('reads a numeric status, and treats an unknown one as scheduled', () => {
  expect(SlotRow.parse(row({ slot: 1, status: 1 as never, blockroot: '0xa' })).status).toBe('1');
  for (const status of ['4', '', 'Proposed', 7])
    expect(SlotRow.parse({ ...row({ slot: 1 }), status }).status).toBe('0');
  for (const status of [1.5, {}, undefined]) {
    const read = readRecord(SlotRow, { ...row({ slot: 1 }), status });
    expect([read.value?.status, read.odd?.place]).toEqual(['0', 'status']);
  }
});

it.each([{ slot: '5' }, { slot: -1 }, { slot: 1.5 }, { blockroot: '' }, { blockroot: 5 }])(
  'refuses a proposed row with %j',
  (fields) => {
    expect(readRecord(SlotRow, { ...row({ slot: 5 }), ...fields }).value).toBeUndefined();
  },
);

it('refuses lists with other items than validator indices', () => {
  const parsed = (list: unknown): number[] => [
    ...AttesterSlashing.parse(slashing(1, [], { attestation1_indices: list })).attestation1_indices,
  ];
  expect(parsed([])).toEqual([]);
  expect(parsed([8230, 16888])).toEqual([8230, 16888]);
  for (const list of ['{8230,16888}', null, [1.5], [-1], [2 ** 32]]) expect(() => parsed(list)).toThrow();
});

it('refuses a 200 that contains an error', () => {
  expect(V1List.safeParse({ status: 'ERROR: internal server error', data: null }).success).toBe(false);
  expect(V1List.safeParse({}).success).toBe(false);
  expect(V1List.safeParse({ status: 'OK', data: [] }).success).toBe(true);
});
