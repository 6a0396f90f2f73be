import { Datapoint } from '../../api/answers/daily-returns.ts';
import { PAGE_SIZE, type PastRange, type Span } from '../../api/endpoints.ts';
import { CHAINS, type Chain } from '../../facts/chain.ts';
import { SECONDS_PER_DAY } from '../../toolkit/lib/duration.ts';
import type { UnixSeconds } from '../../toolkit/lib/time.ts';
import type { History } from '../history.ts';
import { pastReturnFamilies } from './metrics.ts';
import { daysReader } from './poll.ts';

const WINDOW_DAYS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90, all_time: Number.POSITIVE_INFINITY } as const;

/** The days of a chain, back to its first. Each day has the time of its end. */
export function dailyReturnsHistory(chain: Chain): History<Datapoint> {
  const readDays = daysReader(chain);
  return {
    async readPage(api, range, cursor, signal) {
      const { data, paging } = await readDays(api, { range, cursor }, signal);
      return {
        cursor: paging?.next_cursor,
        records: api.records('daily_returns', Datapoint, data),
        count: data.length,
      };
    },
    async estimate(api, ranges, now, signal) {
      for (const range of ranges) await this.readPage(api, range, undefined, signal);
      return ranges.map((range) => {
        const { start, end } = spanOf(chain, range, now);
        return Math.ceil((end - start) / SECONDS_PER_DAY / PAGE_SIZE);
      });
    },
    isDaily: true,
    // Days that overlap the range, and those of the whole UTC days of its ends (api-facts 3.1).
    reachSeconds: 3 * SECONDS_PER_DAY,
    at: (day) => day.day_end,
    group: () => chain,
    stream: () => '',
    families: (days) => pastReturnFamilies(chain, days),
  };
}

/** At least a day, from genesis on. The service widens a range to whole days at both ends (api-facts 3.1). */
function spanOf(chain: Chain, range: PastRange, now: UnixSeconds): Span {
  const { genesis } = CHAINS[chain];
  const wanted = 'window' in range ? windowSpan(range.window, now) : widened(range);
  const start = Math.max(genesis, wanted.start);
  return { start, end: Math.max(start + SECONDS_PER_DAY, Math.min(now, wanted.end)) };
}

function windowSpan(window: keyof typeof WINDOW_DAYS, now: UnixSeconds): Span {
  return { start: now - WINDOW_DAYS[window] * SECONDS_PER_DAY, end: now };
}

function widened({ start, end }: Span): Span {
  return { start: start - SECONDS_PER_DAY, end: end + SECONDS_PER_DAY };
}
