import { MS_PER_DAY } from '../../lib/duration.ts';
import { oncePer, type Source } from '../source.ts';
import { dailyReturnsDue } from './due.ts';
import { dailyReturnsHistory } from './history.ts';
import { dailyReturnFamilies } from './metrics.ts';
import { type DailyReturnsOptions, pollDailyReturns } from './poll.ts';
import { DailyReturns } from './schema.ts';
import { dailyReturnSummary } from './summary.ts';

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
    isDaily: true,
    weight: options.weight,
    // In the normal case a day is requested once, regardless of the interval.
    pace: (requestsPerDay) => oncePer(MS_PER_DAY, options.intervalMs, requestsPerDay),
    poll: (api, previous, timing, signal) => pollDailyReturns(options, api, previous, timing, signal),
    summary: (value, timing, polls) => dailyReturnSummary(options.chain, value.newest, timing, polls),
    families: (value) => dailyReturnFamilies(options.chain, value.newest),
    nextChange: () => Number.POSITIVE_INFINITY,
    history: () => dailyReturnsHistory(options),
  };
}
