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
  // The range is widened to whole UTC days, which begin half a beaconchain-day away (api-facts 3.1).
  const dayAt = (time: UnixSeconds): number => Math.floor((time - CHAINS[chain].genesis) / SECONDS_PER_DAY);
  const midnight = (time: UnixSeconds): UnixSeconds => Math.floor(time / SECONDS_PER_DAY) * SECONDS_PER_DAY;
  const { start, end } = range.timestamp;
  const last = dayAt(midnight(end) + SECONDS_PER_DAY - 1);
  return { first: Math.max(0, dayAt(midnight(start))), from: Math.min(newest, last) };
}

const WEI_PER_ETHER = 10n ** 18n;
const WEI_PER_GWEI = 10n ** 9n;
/** Finality and computation delay the publication of a day (api-facts 3.4). */
const PUBLISHED_AFTER_SECONDS = 40 * 60;
const MAX_WINDOW_DAYS = 31;

/** The newest day that is published at `now`; negative if none is. */
export function newestDay(chain: Chain, now: UnixMs): number {
  return Math.floor((now / 1000 - PUBLISHED_AFTER_SECONDS - CHAINS[chain].genesis) / SECONDS_PER_DAY) - 1;
}

/** Datapoints (api-facts 3.2) of the days from `newest` down to `oldest`, as the service sends them. */
export function datapoints(seed: number, chain: Chain, newest: number, oldest: number): object[] {
  const first = Math.max(0, oldest - MAX_WINDOW_DAYS + 1);
  const days = Array.from({ length: newest - first + 1 }, (_, i) => dayOf(seed, chain, first + i));
  return days
    .slice(oldest - first)
    .map((day) => datapoint(chain, day, days.slice(0, day.number - first + 1)))
    .reverse();
}

interface Day {
  readonly number: number;
  readonly effective: bigint;
  readonly start: bigint;
  readonly deposits: bigint;
  readonly withdrawals: bigint;
  readonly consensus: bigint;
  readonly execution: bigint;
}

function dayOf(seed: number, chain: Chain, number: number): Day {
  const parts = [seed, CHAINS[chain].genesis, number];
  const effective = effectiveEther(chain, number) + between(0, 2000, 1, ...parts);
  // A testnet can lose ether on a day.
  const apr = chain === 'hoodi' && unit(6, ...parts) < 0.02 ? -0.004 : 0.0276 + 0.0008 * unit(7, ...parts);
  return {
    number,
    effective: BigInt(effective) * WEI_PER_ETHER,
    start: gwei(effective * 1.0003e9),
    deposits: BigInt(between(0, 3000, 2, ...parts)) * WEI_PER_ETHER,
    withdrawals: gwei(between(500, 4000, 3, ...parts) * 1e9),
    consensus: gwei(effective * (apr / 365) * 1e9),
    // Fees are paid in wei.
    execution: gwei(between(220, 420, 4, ...parts) * 1e9) + BigInt(between(0, 999, 5, ...parts)),
  };
}

/** Roughly the growth of the real chains (api-facts 3.6). */
function effectiveEther(chain: Chain, day: number): number {
  return chain === 'mainnet' ? 500_000 + 16_400 * day : 38_000_000 + 1000 * day;
}

function gwei(amount: number): bigint {
  return BigInt(Math.round(amount)) * WEI_PER_GWEI;
}

function datapoint(chain: Chain, day: Day, upToDay: readonly Day[]): object {
  const start = CHAINS[chain].genesis + day.number * SECONDS_PER_DAY;
  return {
    day: day.number,
    day_start: start,
    day_end: start + SECONDS_PER_DAY,
    effective_balance: String(day.effective),
    start_balance: String(day.start),
    end_balance: String(day.start + day.consensus + day.deposits - day.withdrawals),
    deposits: String(day.deposits),
    rewards: {
      total: String(day.consensus + day.execution),
      consensus_layer: String(day.consensus),
      execution_layer: String(day.execution),
    },
    apr: aprOf(day),
    moving_averages: { window_7d: averages(upToDay.slice(-7)), window_31d: averages(upToDay.slice(-31)) },
  };
}

function aprOf({ effective, consensus, execution }: Pick<Day, 'effective' | 'consensus' | 'execution'>): object {
  const annual = (reward: bigint): number => (365 * Number(reward)) / Number(effective);
  return {
    combined: annual(consensus + execution),
    consensus_layer: annual(consensus),
    execution_layer: annual(execution),
  };
}

function averages(days: readonly Day[]): object {
  const sum = (amount: (day: Day) => bigint): bigint => days.reduce((total, day) => total + amount(day), 0n);
  const effective = sum((day) => day.effective);
  const consensus = sum((day) => day.consensus);
  const execution = sum((day) => day.execution);
  const count = BigInt(days.length);
  return {
    apr: aprOf({ effective, consensus, execution }),
    rewards: { consensus_layer: String(consensus / count), execution_layer: String(execution / count) },
  };
}
