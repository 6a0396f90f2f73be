import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { Datapoint } from '../../src/sources/daily-returns/schema.ts';
import { NodeRecord, SystemRecord, ValidatorRecord } from '../../src/sources/machines/schema.ts';
import { AttesterSlashing, SlotRow } from '../../src/sources/slashings/schema.ts';
import { datapoint } from '../support/datapoint.ts';
import { cases, PATIENT } from '../support/fuzz.ts';
import { nodeRecord, systemRecord, validatorRecord } from '../support/machine-records.ts';
import { row, slashing } from '../support/slot-rows.ts';
import { oddApi } from './odd-api.ts';
import { mutated, mutations } from './odd-json.ts';

const RECORDS: readonly (readonly [string, z.ZodType, Record<string, unknown>])[] = [
  ['of a system', SystemRecord, systemRecord()],
  ['of a validator', ValidatorRecord, validatorRecord()],
  ['of a node', NodeRecord, nodeRecord()],
  ['of a day', Datapoint, datapoint()],
  ['of a slot', SlotRow, row({ slot: 12_960_000 })],
  ['of a slashing', AttesterSlashing, slashing(12_960_000, [1, 2, 3])],
];

/** What can be saved: no NaN, no infinity. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

describe('fuzz records', PATIENT, () => {
  it.each(RECORDS)('a record %s costs its neighbours nothing, whatever it holds', async (_, schema, good) => {
    const expected = schema.parse(good);
    await fc.assert(
      fc.asyncProperty(mutations(), fc.nat(2), async (changes, place) => {
        const items: unknown[] = [good, good];
        items.splice(place, 0, JSON.parse(JSON.stringify(mutated(good, changes))));
        const read = oddApi(() => undefined).records('machine_metrics', schema, items);
        expect(read.length).toBeGreaterThanOrEqual(2);
        const others = read.length === 3 ? read.toSpliced(place, 1) : read;
        expect(others).toEqual([expected, expected]);
        for (const number of numbersIn(read)) expect(Number.isFinite(number)).toBe(true);
      }),
      cases(50),
    );
  });
});
