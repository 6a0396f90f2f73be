import { expect, it } from 'vitest';
import { AttesterSlashing } from '../../../src/api/answers/slots.ts';
import { countSlashings, NO_SLASHINGS, skipTo } from '../../../src/sources/slashings/count.ts';
import { identityOf } from '../../../src/sources/slashings/evidence.ts';
import { type Fields, slashing } from '../../support/answers/slot-rows.ts';

function records(fields: Fields): ReadonlyMap<string, AttesterSlashing> {
  const record = AttesterSlashing.parse(fields);
  return new Map([[identityOf(record), record]]);
}

it('a slashing of an older slot does not set back the time of the last one', () => {
  const first = countSlashings(NO_SLASHINGS, 330, records(slashing(330, [4])));
  expect(countSlashings(first.state, 320, records(slashing(320, [5]))).state.lastAttesterSlashingSlot).toBe(330);
});

it('counts skipped epochs, and never skips backward', () => {
  const at = { ...NO_SLASHINGS, scannedEpoch: 10, tried: { epochMs: 1, namesMs: 0 } };
  expect(skipTo(at, 13)).toMatchObject({ scannedEpoch: 13, totals: { skippedEpochs: 3 } });
  expect(skipTo(at, 13).tried).toBeUndefined();
  for (const epoch of [10, 9]) expect(skipTo(at, epoch)).toBe(at);
  expect(skipTo(NO_SLASHINGS, 13)).toBe(NO_SLASHINGS);
});
