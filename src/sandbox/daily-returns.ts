import { CHAINS, type Chain } from '../facts/chain.ts';
import { SECONDS_PER_DAY } from '../toolkit/lib/duration.ts';
import type { UnixMs, UnixSeconds } from '../toolkit/lib/time.ts';
import { accepted, Bounds, type DailyReturnsBody, type DaysRange } from './body.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { datapoints, newestDay } from './daily-returns-data.ts';
import { Refusal } from './refusal.ts';
import type { Sandbox } from './world.ts';

const WINDOW_DAYS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90, all_time: Number.POSITIVE_INFINITY };

/** The days that are still to be sent, both inclusive; none if `first` > `from`. The newest comes first. */
interface Days {
  readonly first: number;
  readonly from: number;
}

/** POST /api/v2/ethereum/benchmark-store (api-facts 3.1), without the range, which the exporter does not read. */
export function dailyReturns(sandbox: Sandbox, asked: DailyReturnsBody, now: UnixMs): string {
  const { chain, range, page_size: size, cursor } = asked;
  const query = ['daily-returns', chain, range, size];
  const { first, from } = decodeCursor<Days>(query, cursor) ?? askedDays(sandbox, chain, range, now);
  const to = Math.max(first, from - size + 1);
  return JSON.stringify({
    data: first > from ? [] : datapoints(sandbox.seed, chain, from, to),
    paging: { next_cursor: to === first ? '' : encodeCursor(query, { first, from: to - 1 }) },
  });
}

/** @throws Refusal 403 if the plan does not allow ranges; 400 if the range is not one. */
function askedDays(sandbox: Sandbox, chain: Chain, range: DaysRange, now: UnixMs): Days {
  const newest = newestDay(chain, now);
  if ('evaluation_window' in range) {
    return { first: Math.max(0, newest - WINDOW_DAYS[range.evaluation_window] + 1), from: newest };
  }
  if (sandbox.plan !== 'scale') throw new Refusal(403);
  const { start, end } = accepted(Bounds, range.timestamp);
  // The range is widened to whole UTC days, which begin half a beaconchain-day away (api-facts 3.1).
  const dayAt = (time: UnixSeconds): number => Math.floor((time - CHAINS[chain].genesis) / SECONDS_PER_DAY);
  const midnight = (time: UnixSeconds): UnixSeconds => Math.floor(time / SECONDS_PER_DAY) * SECONDS_PER_DAY;
  const last = dayAt(midnight(end) + SECONDS_PER_DAY - 1);
  return { first: Math.max(0, dayAt(midnight(start))), from: Math.min(newest, last) };
}
