import { CHAINS, type Chain } from '../facts/chain.ts';
import { SECONDS_PER_DAY } from '../toolkit/lib/duration.ts';
import { between, unit } from '../toolkit/lib/random.ts';
import type { UnixMs, UnixSeconds } from '../toolkit/lib/time.ts';
import { type DailyReturnsBody, decodeCursor, encodeCursor } from './body.ts';
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
  const query = [chain, range, size];
  const { first, from } = decodeCursor<Days>(query, cursor) ?? askedDays(sandbox, asked, now);
  const to = Math.max(first, from - size + 1);
  return JSON.stringify({
    data: first > from ? [] : datapoints(sandbox.seed, chain, from, to),
    paging: { next_cursor: to === first ? '' : encodeCursor(query, { first, from: to - 1 }) },
  });
}

/** @throws Refusal 403 if the plan does not allow ranges. */
function askedDays({ plan }: Sandbox, { chain, range }: DailyReturnsBody, now: UnixMs): Days {
  const newest = newestDay(chain, now);
  if ('evaluation_window' in range) {
    return { first: Math.max(0, newest - WINDOW_DAYS[range.evaluation_window] + 1), from: newest };
  }
  if (plan !== 'scale') throw new Refusal(403);
  const dayAt = (time: UnixSeconds): number => Math.floor((time - CHAINS[chain].genesis) / SECONDS_PER_DAY);
  const { start, end } = range.timestamp;
  return { first: Math.max(0, dayAt(start)), from: Math.min(newest, dayAt(end)) };
}

/** Finality and computation delay the publication of a day (api-facts 3.4). */
const PUBLISHED_AFTER_SECONDS = 40 * 60;

/** The newest day that is published at `now`; negative if none is. */
export function newestDay(chain: Chain, now: UnixMs): number {
  return Math.floor((now / 1000 - PUBLISHED_AFTER_SECONDS - CHAINS[chain].genesis) / SECONDS_PER_DAY) - 1;
}

/** Datapoints (api-facts 3.2) of the days from `newest` down to `oldest`, as the service sends them. */
export function datapoints(seed: number, chain: Chain, newest: number, oldest: number): object[] {
  return Array.from({ length: newest - oldest + 1 }, (_, i) => datapoint(seed, chain, newest - i));
}

/** The moving averages are the values of the day itself. */
function datapoint(seed: number, chain: Chain, day: number): object {
  const { genesis } = CHAINS[chain];
  const start = genesis + day * SECONDS_PER_DAY;
  const effective = effectiveEther(chain, day);
  const deposits = between(0, 3000, seed, genesis, day, 1);
  const gwei = effective * 1e9;
  const consensus = Math.round((gwei * (0.0276 + 0.0008 * unit(seed, genesis, day, 2))) / 365);
  const execution = between(220, 420, seed, genesis, day, 3) * 1e9;
  const total = consensus + execution;
  const rewards = { consensus_layer: wei(0, consensus), execution_layer: wei(0, execution) };
  const apr = {
    combined: (365 * total) / gwei,
    consensus_layer: (365 * consensus) / gwei,
    execution_layer: (365 * execution) / gwei,
  };
  return {
    day,
    day_start: start,
    day_end: start + SECONDS_PER_DAY,
    effective_balance: wei(effective),
    start_balance: wei(effective),
    end_balance: wei(effective + deposits, consensus),
    deposits: wei(deposits),
    rewards: { total: wei(0, total), ...rewards },
    apr,
    moving_averages: { window_7d: { apr, rewards }, window_31d: { apr, rewards } },
  };
}

/** Roughly the growth of the real chains (api-facts 3.6). */
function effectiveEther(chain: Chain, day: number): number {
  return chain === 'mainnet' ? 500_000 + 16_400 * day : 38_000_000 + 1000 * day;
}

function wei(ether: number, gwei = 0): string {
  return String(BigInt(ether) * 10n ** 18n + BigInt(gwei) * 10n ** 9n);
}
