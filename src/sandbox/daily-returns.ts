import { CHAINS, type Chain, EPOCHS_PER_DAY } from '../lib/chain.ts';
import { SECONDS_PER_DAY } from '../lib/duration.ts';
import type { UnixMs, UnixSeconds } from '../lib/time.ts';
import { chainName, type Fields, fields, pageSize, parseBounds } from './body.ts';
import { epochsRange } from './chain-range.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { datapoints, newestDay } from './daily-returns-data.ts';
import { Refusal } from './refusal.ts';
import type { Sandbox } from './world.ts';

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
export function dailyReturns(sandbox: Sandbox, body: Fields, now: UnixMs): string {
  const chain = chainName(body['chain']);
  const size = pageSize(body['page_size']);
  const asked = askedDays(sandbox, chain, fields(body['range']), now);
  const query = ['daily-returns', chain, body['range'], size];
  const cursor = decodeCursor<DailyReturnsCursor>(query, body['cursor']);
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

const WINDOW_DAYS: ReadonlyMap<unknown, number> = new Map([
  ['24h', 1],
  ['7d', 7],
  ['30d', 30],
  ['90d', 90],
  ['all_time', Number.POSITIVE_INFINITY],
]);

/** @throws Refusal 400 unless there is exactly one valid selector; 403 if the plan does not allow ranges. */
function askedDays(sandbox: Sandbox, chain: Chain, range: Fields, now: UnixMs): Days {
  const [selector, ...others] = Object.keys(range);
  if (selector === undefined || others.length > 0) throw new Refusal(400);
  if (selector === 'evaluation_window') {
    const days = WINDOW_DAYS.get(range[selector]);
    if (days === undefined) throw new Refusal(400);
    const last = newestDay(chain, now);
    return { first: last - days + 1, last };
  }
  if (selector !== 'timestamp') throw new Refusal(400);
  if (sandbox.plan !== 'scale') throw new Refusal(403);
  const { start, end } = parseBounds(range[selector]);
  // The range is widened to whole UTC days, which begin half a beaconchain-day away (api-facts 3.1).
  const dayAt = (time: UnixSeconds): number => Math.floor((time - CHAINS[chain].genesis) / SECONDS_PER_DAY);
  const midnight = (time: UnixSeconds): UnixSeconds => Math.floor(time / SECONDS_PER_DAY) * SECONDS_PER_DAY;
  return { first: dayAt(midnight(start)), last: dayAt(midnight(end) + SECONDS_PER_DAY - 1) };
}
