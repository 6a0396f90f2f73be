import { type DayOfReturns, datapointOf, daysRange } from '../../../src/sandbox/daily-returns.ts';

const ETHER = 10n ** 18n;

/** Mainnet day 2100 (api-facts 3.7). */
const DAY_2100: DayOfReturns = {
  effective: 35_000_000n * ETHER,
  start: 35_010_000n * ETHER,
  end: 35_011_200n * ETHER,
  deposits: 0n,
  rewards: { consensus_layer: 2_650n * ETHER, execution_layer: 300n * ETHER },
  averages: {
    window_7d: {
      apr: { combined: 0.0307, consensus_layer: 0.0276, execution_layer: 0.0031 },
      rewards: { consensus_layer: 2_648n * ETHER, execution_layer: 298n * ETHER },
    },
    window_31d: {
      apr: { combined: 0.0308, consensus_layer: 0.0276, execution_layer: 0.0032 },
      rewards: { consensus_layer: 2_645n * ETHER, execution_layer: 305n * ETHER },
    },
  },
};

/** The end of mainnet day 2100, Unix ms. */
export const DAY_2100_END = 1_788_350_423_000;

/** Mainnet day 2100 + `later` as the service sends it, but for these fields. */
export function dayAfter(later: number, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { ...datapointOf('mainnet', 2100 + later, DAY_2100), ...fields };
}

export function datapoint(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return dayAfter(0, fields);
}

export function returnsPage(...data: readonly unknown[]): unknown {
  return { data, range: daysRange('mainnet', 2100, 2100), paging: { next_cursor: '' } };
}
