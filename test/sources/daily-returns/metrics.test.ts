import { describe, expect, it } from 'vitest';
import { Datapoint } from '../../../src/api/answers/daily-returns.ts';
import { dailyReturnFamilies } from '../../../src/sources/daily-returns/index.ts';
import type { Family } from '../../../src/toolkit/exposition/family.ts';
import { datapoint } from '../../support/answers/datapoint.ts';
import { samplesOf } from '../../support/exposition/samples.ts';

const PREFIX = 'beaconchain_daily_return_';

function shown(fields: Record<string, unknown> = {}): Family[] {
  return dailyReturnFamilies('mainnet', Datapoint.parse(datapoint(fields)));
}

/** Samples of a family as [labels other than chain, value]. */
function series(families: readonly Family[], name: string): unknown[] {
  return samplesOf(families, PREFIX + name).map(({ labels: { chain, ...rest }, value }) => [rest, value]);
}

describe('sources/daily-returns: families', () => {
  it('shows negative rewards', () => {
    const rewards = { total: '-5', consensus_layer: '-1500000000000000000', execution_layer: '0' };
    expect(series(shown({ rewards }), 'rewards_ether')).toEqual([
      [{ layer: 'consensus' }, -1.5],
      [{ layer: 'execution' }, 0],
    ]);
  });

  it('gives no sample for a null or absent field and keeps the rest', () => {
    const rewards = { total: null, consensus_layer: '1000000000000000000' };
    const families = shown({ effective_balance: null, deposits: undefined, rewards });
    expect(series(families, 'effective_balance_ether')).toEqual([]);
    expect(series(families, 'deposits_ether')).toEqual([]);
    expect(series(families, 'total_rewards_ether')).toEqual([]);
    expect(series(families, 'rewards_ether')).toEqual([[{ layer: 'consensus' }, 1]]);
    expect(series(families, 'combined_apr_ratio')).toEqual([[{}, 0.030764285714]]);
  });
});
