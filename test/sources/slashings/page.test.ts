import { describe, expect, it } from 'vitest';
import { link } from '../../../src/sources/content.ts';
import { NO_SLASHINGS } from '../../../src/sources/slashings/count.ts';
import { slashingsPage } from '../../../src/sources/slashings/page.ts';
import type { Slashings } from '../../../src/sources/slashings/state.ts';
import { slotAt } from '../../support/answers/slot-rows.ts';
import { slashingsOptions } from '../../support/runs/slashings-options.ts';
import { DAY, HOUR, NOW, timing } from '../../support/time/timing.ts';

function told(change: Partial<Slashings>): string[] {
  const options = slashingsOptions({ watch: [{ first: 1, last: 9 }] });
  const { notices = [] } = slashingsPage(options, { ...NO_SLASHINGS, ...change }, timing(), link);
  return notices.map(({ tone, text }) => `${tone}: ${text}`);
}

describe('sources/slashings/page', () => {
  it.each<[string, Partial<Slashings>, Partial<Slashings>, string]>([
    [
      'a slashed validator that is watched',
      { slashed: [[5, slotAt('mainnet', NOW - HOUR)]] },
      { slashed: [[50, slotAt('mainnet', NOW - HOUR)]] },
      'bad: 1 watched validator of mainnet slashed: 5.',
    ],
    [
      'a slashing of this week',
      { proposerSlashed: [[5, slotAt('mainnet', NOW - 7 * DAY + HOUR)]] },
      { proposerSlashed: [[5, slotAt('mainnet', NOW - 7 * DAY - HOUR)]] },
      'bad: 1 watched validator of mainnet slashed: 5.',
    ],
    [
      'a validator that the status reports as slashed since',
      { slashedByStatus: [{ validator: 5, reportedSlot: slotAt('mainnet', NOW - HOUR) }] },
      { slashedByStatus: [{ validator: 5 }] },
      'bad: 1 watched validator of mainnet slashed: 5.',
    ],
    [
      'a missed proposal',
      { missedProposals: [[5, slotAt('mainnet', NOW - HOUR)]] },
      { missedProposals: [[5, slotAt('mainnet', NOW - 2 * DAY)]] },
      'warning: 1 watched validator of mainnet missed a proposal in the last day: 5.',
    ],
  ])('%s', (_, holds, not, text) => {
    expect(told(holds)).toEqual([text]);
    expect(told(not)).toEqual([]);
  });
});
