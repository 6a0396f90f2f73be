import { CHAINS, type Chain, EPOCHS_PER_DAY } from '../lib/chain.ts';
import { SECONDS_PER_DAY } from '../lib/duration.ts';
import type { UnixMs, UnixSeconds } from '../lib/time.ts';
import { accepted, Bounds, DailyReturnsBody, type DaysRange } from './body.ts';
import { epochsRange } from './chain-range.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { datapoints, newestDay } from './daily-returns-data.ts';
import { Refusal } from './refusal.ts';
import type { Sandbox } from './world.ts';

const WINDOW_DAYS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90, all_time: Number.POSITIVE_INFINITY };

/** A range of days, both inclusive; empty if `first` > `last`. */
interface Days {
  readonly first: number;
  readonly last: number;
}

/** The day at which the next page begins, and the days of the whole result. */
interface DailyReturnsCursor {
  readonly from: number;
  readonly days: Days;
}

/** POST /api/v2/ethereum/benchmark-store (api-facts 3.1). */
export function dailyReturns(sandbox: Sandbox, body: unknown, now: UnixMs): string {
  const { chain, range, page_size: size, cursor: given } = accepted(DailyReturnsBody, body);
  const asked = askedDays(sandbox, chain, range, now);
  const query = ['daily-returns', chain, range, size];
  const cursor = decodeCursor<DailyReturnsCursor>(query, given);
  const newest = newestDay(chain, now);
  const days = cursor?.days ?? { first: Math.max(0, asked.first), last: Math.min(newest, asked.last) };
  const from = cursor?.from ?? days.last;
  const to = Math.max(days.first, from - size + 1);
  const isEmpty = days.first > days.last;
  const next = { from: to - 1, days };
  const covered = isEmpty ? { first: Math.max(0, asked.first), last: Math.max(0, asked.last) } : days;
  return JSON.stringify({
    data: isEmpty ? [] : datapoints(sandbox.seed, chain, from, to),
    range: epochsRange(chain, covered.first * EPOCHS_PER_DAY, (covered.last + 1) * EPOCHS_PER_DAY - 1),
    paging: { next_cursor: isEmpty || to === days.first ? '' : encodeCursor(query, next) },
  });
}

/** @throws Refusal 403 if the plan does not allow ranges; 400 if the range is not one. */
function askedDays(sandbox: Sandbox, chain: Chain, range: DaysRange, now: UnixMs): Days {
  if ('evaluation_window' in range) {
    const last = newestDay(chain, now);
    return { first: last - WINDOW_DAYS[range.evaluation_window] + 1, last };
  }
  if (sandbox.plan !== 'scale') throw new Refusal(403);
  const { start, end } = accepted(Bounds, range.timestamp);
  // The range is widened to whole UTC days, which begin half a beaconchain-day away (api-facts 3.1).
  const dayAt = (time: UnixSeconds): number => Math.floor((time - CHAINS[chain].genesis) / SECONDS_PER_DAY);
  const midnight = (time: UnixSeconds): UnixSeconds => Math.floor(time / SECONDS_PER_DAY) * SECONDS_PER_DAY;
  return { first: dayAt(midnight(start)), last: dayAt(midnight(end) + SECONDS_PER_DAY - 1) };
}
