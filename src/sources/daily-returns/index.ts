import type { Chain } from '../../facts/chain.ts';
import { MS_PER_DAY, MS_PER_MINUTE } from '../../toolkit/lib/duration.ts';
import type { Milliseconds } from '../../toolkit/lib/time.ts';
import { dueOncePer, oncePer, type Source } from '../source.ts';
import { dailyReturnsHistory } from './history.ts';
import { dailyReturnFamilies } from './metrics.ts';
import { daysReader, pollDailyReturns } from './poll.ts';
import { DailyReturns } from './schema.ts';
import { dailyReturnSummary } from './summary.ts';

/** A day is published about 20 minutes after its end (api-facts 3.4). */
const AFTER_DAY_END_MS = 30 * MS_PER_MINUTE;

/** The network's average return per beaconchain-day. */
export function dailyReturnsSource(chain: Chain, intervalMs: Milliseconds): Source<DailyReturns> {
  const readDays = daysReader(chain);
  return {
    name: 'daily_returns',
    chain,
    endpoint: 'daily_returns',
    intervalMs,
    empty: {},
    state: DailyReturns,
    due({ newest }, attempts, timing) {
      const endsAt = newest && newest.day_end * 1000 + MS_PER_DAY;
      const nextDay = { endsAt, lengthMs: MS_PER_DAY, delayMs: AFTER_DAY_END_MS };
      return dueOncePer(nextDay, intervalMs, attempts, timing);
    },
    isDaily: true,
    weight: 1,
    // In the normal case a day is requested once, regardless of the interval.
    pace: (requestsPerDay) => oncePer(MS_PER_DAY, intervalMs, requestsPerDay),
    poll: (api, previous, timing, signal) => pollDailyReturns(chain, readDays, api, previous, timing, signal),
    summary: (value, timing) => dailyReturnSummary(value.newest, timing),
    families: (value) => dailyReturnFamilies(chain, value.newest),
    nextChange: () => Number.POSITIVE_INFINITY,
    history: () => dailyReturnsHistory(chain),
  };
}
