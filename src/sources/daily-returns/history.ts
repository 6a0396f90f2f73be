import { CHAINS, type Chain } from '../../lib/chain.ts';
import { SECONDS_PER_DAY } from '../../lib/duration.ts';
import type { UnixSeconds } from '../../lib/time.ts';
import type { History, PastRange, Span } from '../history.ts';
import { pastReturnFamilies } from './metrics.ts';
import { DAYS_PER_PAGE, daysReader } from './poll.ts';
import { Datapoint } from './schema.ts';

const WINDOW_DAYS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90, all_time: Number.POSITIVE_INFINITY } as const;

/** The days of a chain, back to its first. Each day has the time of its end. */
export function dailyReturnsHistory(chain: Chain): History<Datapoint> {
  const readDays = daysReader(chain);
  return {
    async readPage(api, range, cursor, signal) {
      const query = { range: selectorOf(range), ...(cursor === undefined ? {} : { cursor }) };
      const { data, paging } = await readDays(api, query, signal);
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
        return Math.ceil((end - start) / SECONDS_PER_DAY / DAYS_PER_PAGE);
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

/** The range as the service expects it (api-facts 3.1). */
function selectorOf(range: PastRange): object {
  return 'window' in range
    ? { evaluation_window: range.window }
    : { timestamp: { start: range.start, end: range.end } };
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
