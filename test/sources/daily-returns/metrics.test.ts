import { describe, expect, it } from 'vitest';
import type { Family } from '../../../src/metrics/family.ts';
import { dailyReturnFamilies } from '../../../src/sources/daily-returns/metrics.ts';
import { Datapoint } from '../../../src/sources/daily-returns/schema.ts';
import { datapoint } from '../../support/datapoint.ts';
import { samplesOf, sampleValue } from '../../support/samples.ts';

const PREFIX = 'beaconchain_daily_return_';

function shown(fields: Record<string, unknown> = {}): Family[] {
  return dailyReturnFamilies('mainnet', Datapoint.parse(datapoint(fields)));
}

/** Samples of a family as [labels other than chain, value]. */
function series(families: readonly Family[], name: string): unknown[] {
  return samplesOf(families, PREFIX + name).map(({ labels: { chain, ...rest }, value }) => [rest, value]);
}

describe('sources/daily-returns/metrics', () => {
  it('shows the day in ether, seconds and ratios', () => {
    const families = shown();
    const expected = {
      day: 2100,
      start_timestamp_seconds: 1788264023,
      end_timestamp_seconds: 1788350423,
      effective_balance_ether: 35e6,
      start_balance_ether: 35.01e6,
      end_balance_ether: 35.0112e6,
      deposits_ether: 0,
      total_rewards_ether: 2950,
      combined_apr_ratio: 0.030764285714,
    };
    for (const [name, value] of Object.entries(expected)) {
      expect(sampleValue(families, PREFIX + name, { chain: 'mainnet' }), name).toBe(value);
    }
  });

  it('splits rewards and APR by layer', () => {
    expect(series(shown(), 'rewards_ether')).toEqual([
      [{ layer: 'consensus' }, 2650],
      [{ layer: 'execution' }, 300],
    ]);
    expect(series(shown(), 'apr_ratio')).toEqual([
      [{ layer: 'consensus' }, 0.027635714286],
      [{ layer: 'execution' }, 0.003128571429],
    ]);
  });

  it('splits moving averages by window and layer', () => {
    expect(series(shown(), 'moving_average_combined_apr_ratio')).toEqual([
      [{ window: '7d' }, 0.0307],
      [{ window: '31d' }, 0.0308],
    ]);
    expect(series(shown(), 'moving_average_apr_ratio')).toEqual([
      [{ window: '7d', layer: 'consensus' }, 0.0276],
      [{ window: '7d', layer: 'execution' }, 0.0031],
      [{ window: '31d', layer: 'consensus' }, 0.0276],
      [{ window: '31d', layer: 'execution' }, 0.0032],
    ]);
    expect(series(shown(), 'moving_average_rewards_ether')).toEqual([
      [{ window: '7d', layer: 'consensus' }, 2648],
      [{ window: '7d', layer: 'execution' }, 298],
      [{ window: '31d', layer: 'consensus' }, 2645],
      [{ window: '31d', layer: 'execution' }, 305],
    ]);
  });

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

  it('carries the terms of use in every HELP', () => {
    for (const { help } of shown()) expect(help).toMatch(/must not be used as a financial benchmark/);
  });
});
