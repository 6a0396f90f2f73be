/** Mainnet day 2100 as the service sends it (api-facts 3.7). */
export function datapoint(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    day: 2100,
    day_start: 1788264023,
    day_end: 1788350423,
    effective_balance: '35000000000000000000000000',
    start_balance: '35010000000000000000000000',
    end_balance: '35011200000000000000000000',
    deposits: '0',
    rewards: {
      total: '2950000000000000000000',
      consensus_layer: '2650000000000000000000',
      execution_layer: '300000000000000000000',
    },
    apr: { combined: 0.030764285714, consensus_layer: 0.027635714286, execution_layer: 0.003128571429 },
    moving_averages: {
      window_7d: {
        apr: { combined: 0.0307, consensus_layer: 0.0276, execution_layer: 0.0031 },
        rewards: { consensus_layer: '2648000000000000000000', execution_layer: '298000000000000000000' },
      },
      window_31d: {
        apr: { combined: 0.0308, consensus_layer: 0.0276, execution_layer: 0.0032 },
        rewards: { consensus_layer: '2645000000000000000000', execution_layer: '305000000000000000000' },
      },
    },
    ...fields,
  };
}

/** The end of mainnet day 2100, Unix ms. */
export const DAY_2100_END = 1_788_350_423_000;

/** Mainnet day 2100 + `later`. */
export function dayAfter(later: number, fields: Record<string, unknown> = {}): Record<string, unknown> {
  const shift = later * 86_400;
  return datapoint({ day: 2100 + later, day_start: 1788264023 + shift, day_end: 1788350423 + shift, ...fields });
}

export function returnsPage(...data: readonly unknown[]): unknown {
  return {
    data,
    range: { slot: { start: 15120000, end: 15127199 }, epoch: { start: 472500, end: 472724 } },
    paging: { next_cursor: '' },
  };
}
