import { CHAINS, type Chain } from '../facts/chain.ts';
import { SECONDS_PER_DAY } from '../toolkit/lib/duration.ts';
import { between, unit } from '../toolkit/lib/random.ts';
import type { UnixMs, UnixSeconds } from '../toolkit/lib/time.ts';
import { type DailyReturnsBody, pageOf } from './body.ts';
import { wei } from './chain-world.ts';
import { Refusal } from './refusal.ts';
import type { Sandbox } from './world.ts';

const WINDOW_DAYS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90, all_time: Number.POSITIVE_INFINITY };

/** POST /api/v2/ethereum/benchmark-store (api-facts 3.1), without the range, which the exporter does not read. */
export function dailyReturns({ plan, seed }: Sandbox, asked: DailyReturnsBody, now: UnixMs): string {
  if ('timestamp' in asked.range && plan !== 'scale') throw new Refusal(403);
  const { page, paging } = pageOf(asked, now, (at) => daysOf(asked, at));
  return JSON.stringify({ data: page.map((day) => datapoint(seed, asked.chain, day)), paging });
}

/** The days in a range, the newest first. */
function daysOf({ chain, range }: DailyReturnsBody, now: UnixMs): number[] {
  const dayAt = (time: UnixSeconds): number => Math.floor((time - CHAINS[chain].genesis) / SECONDS_PER_DAY);
  const newest = newestDay(chain, now);
  const [first, last] =
    'timestamp' in range
      ? [dayAt(range.timestamp.start), Math.min(newest, dayAt(range.timestamp.end))]
      : [newest - WINDOW_DAYS[range.evaluation_window] + 1, newest];
  return Array.from({ length: last - Math.max(0, first) + 1 }, (_, i) => last - i);
}

/** Finality and computation delay the publication of a day (api-facts 3.4). */
const PUBLISHED_AFTER_SECONDS = 40 * 60;

/** The newest day that is published at `now`; negative if none is. */
export function newestDay(chain: Chain, now: UnixMs): number {
  return Math.floor((now / 1000 - PUBLISHED_AFTER_SECONDS - CHAINS[chain].genesis) / SECONDS_PER_DAY) - 1;
}

/** The datapoint of a day (api-facts 3.2). The moving averages are the values of the day itself. */
export function datapoint(seed: number, chain: Chain, day: number): object {
  const { genesis } = CHAINS[chain];
  const start = genesis + day * SECONDS_PER_DAY;
  const effective = effectiveGwei(chain, day);
  const deposits = between(0, 3000, seed, genesis, day, 1) * 1e9;
  const consensus = Math.round((effective * (0.0276 + 0.0008 * unit(seed, genesis, day, 2))) / 365);
  const execution = between(220, 420, seed, genesis, day, 3) * 1e9;
  const total = consensus + execution;
  const rewards = { consensus_layer: wei(consensus), execution_layer: wei(execution) };
  const apr = {
    combined: (365 * total) / effective,
    consensus_layer: (365 * consensus) / effective,
    execution_layer: (365 * execution) / effective,
  };
  return {
    day,
    day_start: start,
    day_end: start + SECONDS_PER_DAY,
    effective_balance: wei(effective),
    start_balance: wei(effective),
    end_balance: wei(effective + deposits + consensus),
    deposits: wei(deposits),
    rewards: { total: wei(total), ...rewards },
    apr,
    moving_averages: { window_7d: { apr, rewards }, window_31d: { apr, rewards } },
  };
}

/** Roughly the growth of the real chains (api-facts 3.6). */
function effectiveGwei(chain: Chain, day: number): number {
  return 1e9 * (chain === 'mainnet' ? 500_000 + 16_400 * day : 38_000_000 + 1000 * day);
}
