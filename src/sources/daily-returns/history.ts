import { CHAINS } from '../../lib/chain.ts';
import { SECONDS_PER_DAY } from '../../lib/duration.ts';
import type { Alternatives } from '../alternatives.ts';
import type { History, PastRange } from '../history.ts';
import { pastReturnFamilies } from './metrics.ts';
import { DAYS_PER_PAGE, type DailyReturnsOptions, readDays } from './poll.ts';
import { Datapoint } from './schema.ts';

const WINDOW_DAYS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 } as const;

/** The days of a chain, back to its first. Each day has the time of its end. */
export function dailyReturnsHistory(options: DailyReturnsOptions): History<Datapoint> {
  const { chain } = options;
  let known: Alternatives | undefined;
  return {
    async readPage(api, range, cursor, signal) {
      const query = { range: selectorOf(range), ...(cursor === undefined ? {} : { cursor }) };
      // The time is fixed: a run keeps the path that works, and tries the other one once.
      const asked = await readDays(options, { api, query, known, now: 0, signal });
      ({ known } = asked);
      if (!asked.answer) throw asked.failure;
      const { data, paging } = asked.answer;
      return {
        cursor: paging?.next_cursor,
        records: await api.records('daily_returns', Datapoint, data),
        count: data.length,
      };
    },
    async estimate(_api, ranges, now) {
      const age = Math.floor((now / 1000 - CHAINS[chain].genesis) / SECONDS_PER_DAY);
      return ranges.reduce((sum, range) => sum + Math.max(1, Math.ceil(daysOf(range, age) / DAYS_PER_PAGE)), 0);
    },
    maxSamples: 23,
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

/** The most days that a range can have. `age` is the age of the chain in days. */
function daysOf(range: PastRange, age: number): number {
  if ('window' in range) return range.window === 'all_time' ? age : Math.min(age, WINDOW_DAYS[range.window]);
  // Widened to whole days at both ends (api-facts 3.1).
  return Math.min(age, Math.ceil((range.end - range.start) / SECONDS_PER_DAY) + 2);
}
