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

/** A validator, and the slot of mainnet so long ago. */
function ago(validator: number, ms: number): [number, number] {
  return [validator, slotAt('mainnet', NOW - ms)];
}

const SLASHED = 'bad: 1 watched validator of mainnet slashed: 5.';
const MISSED = 'warning: 1 watched validator of mainnet missed a proposal in the last day: 5.';
const [, HOUR_AGO] = ago(5, HOUR);

describe('sources/slashings/page', () => {
  it.each<[string, key: keyof Slashings, holds: unknown, not: unknown, string]>([
    ['a slashed validator that is watched', 'slashed', ago(5, HOUR), ago(50, HOUR), SLASHED],
    ['a slashing of this week', 'proposerSlashed', ago(5, 7 * DAY - HOUR), ago(5, 7 * DAY + HOUR), SLASHED],
    [
      'a validator that the status reports as slashed since',
      'slashedByStatus',
      { validator: 5, reportedSlot: HOUR_AGO },
      { validator: 5 },
      SLASHED,
    ],
    ['a missed proposal', 'missedProposals', ago(5, HOUR), ago(5, 2 * DAY), MISSED],
  ])('%s', (_, key, holds, not, text) => {
    expect(told({ [key]: [holds] })).toEqual([text]);
    expect(told({ [key]: [not] })).toEqual([]);
  });
});
