import { describe, expect, it } from 'vitest';
import { AttesterSlashing, SlotRow } from '../../../src/api/answers/slots.ts';
import { countEpoch, countSlashings, NO_SLASHINGS, skipTo } from '../../../src/sources/slashings/count.ts';
import { identityOf } from '../../../src/sources/slashings/evidence.ts';
import { epochRows, type Fields, slashing } from '../../support/answers/slot-rows.ts';

function records(fields: Fields): ReadonlyMap<string, AttesterSlashing> {
  const record = AttesterSlashing.parse(fields);
  return new Map([[identityOf(record), record]]);
}

describe('sources/slashings/count', () => {
  it('slashings of an older slot do not set the time of the last one back', () => {
    const first = countSlashings(NO_SLASHINGS, 330, records(slashing(330, [4])));
    expect(countSlashings(first.state, 320, records(slashing(320, [5]))).state.lastAttesterSlashingSlot).toBe(330);
  });

  it('an epoch adds its slots by status and what its canonical blocks hold', () => {
    const special = {
      1: { status: '2' },
      2: { status: '0' },
      3: { status: '3', withdrawalcount: 99, proposerslashingscount: 7 },
      4: { depositscount: 3, voluntaryexitscount: 2, exec_gas_used: null, exec_transactions_count: null },
      5: { proposerslashingscount: 2 },
    };
    const rows = epochRows(10, special).map((one) => SlotRow.parse(one));
    const { totals, scannedEpoch, lastProposerSlashingSlot } = countEpoch(NO_SLASHINGS, 10, rows);
    expect(scannedEpoch).toBe(10);
    expect(lastProposerSlashingSlot).toBe(325);
    expect(totals).toMatchObject({
      slots: { proposed: 29, missed: 2, orphaned: 1 },
      attestations: 29 * 8,
      deposits: 3,
      voluntaryExits: 2,
      withdrawals: 29 * 16,
      transactions: 28 * 145,
      gasUsed: 28 * 11704811,
      proposerSlashings: 2,
    });
  });

  it('counts the epochs that it skips, and only forward', () => {
    const at = { ...NO_SLASHINGS, scannedEpoch: 10, tried: { epochMs: 1, namesMs: 0 } };
    expect(skipTo(at, 13)).toMatchObject({ scannedEpoch: 13, totals: { skippedEpochs: 3 } });
    expect(skipTo(at, 13).tried).toBeUndefined();
    for (const epoch of [10, 9]) expect(skipTo(at, epoch)).toBe(at);
    expect(skipTo(NO_SLASHINGS, 13)).toBe(NO_SLASHINGS);
  });
});
