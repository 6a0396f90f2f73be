import type { Source } from '../source.ts';
import { dailyReturnsDue } from './due.ts';
import { dailyReturnFamilies } from './metrics.ts';
import { type DailyReturnsOptions, pollDailyReturns } from './poll.ts';
import { DailyReturns } from './schema.ts';

/** The network's average return per beaconchain-day. */
export function dailyReturnsSource(options: DailyReturnsOptions): Source<DailyReturns> {
  return {
    name: 'daily_returns',
    chain: options.chain,
    endpoint: 'daily_returns',
    intervalMs: options.intervalMs,
    empty: {},
    state: DailyReturns,
    due: dailyReturnsDue,
    requestsPerDay: () => 1,
    poll: (api, previous, timing, signal) => pollDailyReturns(options, api, previous, timing, signal),
    families: (value) => dailyReturnFamilies(options.chain, value.newest),
    nextChange: () => Number.POSITIVE_INFINITY,
  };
}
