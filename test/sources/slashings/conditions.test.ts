import { describe, expect, it } from 'vitest';
import { CHAINS } from '../../../src/lib/chain.ts';
import { slashingsNotices } from '../../../src/sources/slashings/conditions.ts';
import { NO_SLASHINGS } from '../../../src/sources/slashings/count.ts';
import type { Slashings } from '../../../src/sources/slashings/schema.ts';
import { slashingsOptions } from '../../support/slashings-options.ts';
import { DAY, HOUR, MINUTE, NOW, polls, timing } from '../../support/timing.ts';

const EPOCH = Math.floor((NOW / 1000 - CHAINS.mainnet.genesis) / 384);

function slotAt(time: number): number {
  return Math.floor((time / 1000 - CHAINS.mainnet.genesis) / 12);
}

const HEALTHY: Slashings = {
  ...NO_SLASHINGS,
  headReadAt: NOW - MINUTE,
  head: { slot: EPOCH * 32, epoch: EPOCH, participation: 0.99 },
  finalizedEpoch: EPOCH - 2,
  scannedEpoch: EPOCH - 2,
};

function told(change: Partial<Slashings>, polled = polls()): string[] {
  const options = slashingsOptions({ watch: [{ first: 1, last: 9 }] });
  return slashingsNotices(options, { ...HEALTHY, ...change }, timing(), polled).map(
    ({ tone, text }) => `${tone}: ${text}`,
  );
}

function proposals(missed: number, proposed: number, age: number): Slashings['recentProposals'] {
  const one = (status: 'missed' | 'proposed') => ({ slot: slotAt(NOW - age), validator: 1, status });
  return [
    ...Array.from({ length: missed }, () => one('missed')),
    ...Array.from({ length: proposed }, () => one('proposed')),
  ];
}

function slashed(count: number, age: number): Slashings['slashed'] {
  return Array.from({ length: count }, (_, i) => [100 + i, slotAt(NOW - age)]);
}

describe('sources/slashings/conditions', () => {
  it('has no notice for a healthy chain', () => {
    expect(told({})).toEqual([]);
  });

  it.each<[string, Partial<Slashings>, Partial<Slashings>, string]>([
    [
      'no finality',
      { finalizedEpoch: EPOCH - 7, scannedEpoch: EPOCH - 7 },
      { finalizedEpoch: EPOCH - 6, scannedEpoch: EPOCH - 6 },
      'bad: mainnet is not finalizing: finality is 7 epochs behind.',
    ],
    [
      'low participation',
      { head: { slot: 1, epoch: EPOCH, participation: 0.62 } },
      { head: { slot: 1, epoch: EPOCH, participation: 0.8 } },
      'warning: Sync committee participation of mainnet is low: 62 % in the newest block.',
    ],
    [
      'a lagging scan',
      { scannedEpoch: EPOCH - 15 },
      { scannedEpoch: EPOCH - 14 },
      'warning: Slashings of mainnet are counted late: 13 epochs behind finality.',
    ],
    [
      'a slashed validator that is watched',
      { slashed: [[5, slotAt(NOW - HOUR)]] },
      { slashed: [[50, slotAt(NOW - HOUR)]] },
      'bad: 1 watched validator of mainnet slashed: 5.',
    ],
    [
      'a proposer slashing',
      { lastProposerSlashingSlot: slotAt(NOW - HOUR) },
      { lastProposerSlashingSlot: slotAt(NOW - 3 * HOUR) },
      'warning: A proposer of mainnet was slashed 1 h ago.',
    ],
    [
      'many slashed validators',
      { slashed: slashed(26, HOUR) },
      { slashed: [...slashed(25, HOUR), ...slashed(9, 2 * DAY)] },
      'warning: 26 validators of mainnet slashed within a day.',
    ],
    [
      'many missed proposals',
      { recentProposals: proposals(3, 7, HOUR) },
      { recentProposals: [...proposals(2, 1, HOUR), ...proposals(7, 0, 2 * DAY)] },
      'bad: Watched validators of mainnet missed 3 of 10 proposals in the last day.',
    ],
  ])('%s', (_, holds, not, text) => {
    expect(told(holds)).toEqual([text]);
    expect(told(not)).toEqual([]);
  });

  it('where the head is not read, judges finality by the last successful poll', () => {
    const without = { head: undefined, finalizedEpoch: EPOCH - 20, scannedEpoch: EPOCH - 20 };
    expect(told(without)).toEqual(['bad: mainnet is not finalizing: finality is 20 epochs behind.']);
    expect(told(without, polls({ lastSuccessAt: NOW - 2 * HOUR }))).toEqual([]);
    expect(told(without, polls({ lastSuccessAt: undefined }))).toEqual([]);
  });
});
