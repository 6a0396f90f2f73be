import { CHAINS, type Chain, EPOCHS_PER_DAY } from '../facts/chain.ts';
import { SECONDS_PER_DAY } from '../toolkit/lib/duration.ts';
import { between, unit } from '../toolkit/lib/random.ts';
import type { UnixMs, UnixSeconds } from '../toolkit/lib/time.ts';
import { type DailyReturnsBody, pageOf } from './body.ts';
import { epochsRange } from './chain-world.ts';
import { Refusal } from './refusal.ts';
import type { Sandbox } from './world.ts';

/** Wei. */
interface Rewards {
  readonly consensus_layer: bigint;
  readonly execution_layer: bigint;
}

/** Annual rates as fractions. */
type Apr = Readonly<Record<'combined' | keyof Rewards, number>>;

/** What a chain returned on a day. Amounts are wei. */
export interface DayOfReturns {
  readonly effective: bigint;
  readonly start: bigint;
  readonly end: bigint;
  readonly deposits: bigint;
  readonly rewards: Rewards;
  readonly averages: Readonly<Record<'window_7d' | 'window_31d', { readonly apr: Apr; readonly rewards: Rewards }>>;
}

const WINDOW_DAYS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90, all_time: Number.POSITIVE_INFINITY };

/** POST /api/v2/ethereum/benchmark-store (api-facts 3). */
export function dailyReturns(sandbox: Sandbox, asked: DailyReturnsBody, now: UnixMs): string {
  const { chain, range } = asked;
  if ('timestamp' in range && sandbox.account.plan !== 'scale') throw new Refusal(403);
  const { page, paging } = pageOf(asked, now, (at) => daysOf(sandbox, asked, at));
  const [last = newestDay(sandbox, chain, now)] = page;
  const data = page.map((day) => datapoint(sandbox, chain, day));
  return JSON.stringify({ data, range: daysRange(chain, page.at(-1) ?? last, last), paging });
}

/** The days in a range, the newest first. */
function daysOf(sandbox: Sandbox, { chain, range }: DailyReturnsBody, now: UnixMs): number[] {
  const dayAt = (time: UnixSeconds): number => Math.floor((time - CHAINS[chain].genesis) / SECONDS_PER_DAY);
  const newest = newestDay(sandbox, chain, now) - (now < sandbox.publication.olderUntil ? 1 : 0);
  const [first, last] =
    'timestamp' in range
      ? [dayAt(range.timestamp.start), Math.min(newest, dayAt(range.timestamp.end))]
      : [newest - WINDOW_DAYS[range.evaluation_window] + 1, newest];
  return Array.from({ length: last - Math.max(0, first) + 1 }, (_, i) => last - i);
}

/** The newest day that is published at `now`; negative if none is. */
export function newestDay({ seed, publication }: Sandbox, chain: Chain, now: UnixMs): number {
  const { delayMs, spread } = publication;
  const { genesis } = CHAINS[chain];
  const publishedAt = (day: number): UnixMs =>
    (genesis + (day + 1) * SECONDS_PER_DAY) * 1000 + delayMs * (1 + spread * (2 * unit(seed, genesis, day, 5) - 1));
  let day = Math.floor((now / 1000 - genesis) / SECONDS_PER_DAY) - 1;
  while (now < publishedAt(day)) day -= 1;
  return day;
}

export function datapoint({ seed }: Pick<Sandbox, 'seed'>, chain: Chain, day: number) {
  return datapointOf(chain, day, drawnDay(seed, chain, day));
}

/** The datapoint of a day (api-facts 3.2). */
export function datapointOf(chain: Chain, day: number, { averages, ...of }: DayOfReturns) {
  const day_start = CHAINS[chain].genesis + day * SECONDS_PER_DAY;
  const { window_7d, window_31d } = averages;
  const total = of.rewards.consensus_layer + of.rewards.execution_layer;
  return {
    day,
    day_start,
    day_end: day_start + SECONDS_PER_DAY,
    effective_balance: String(of.effective),
    start_balance: String(of.start),
    end_balance: String(of.end),
    deposits: String(of.deposits),
    rewards: { total: String(total), ...written(of.rewards) },
    apr: aprOf(of),
    moving_averages: {
      window_7d: { apr: window_7d.apr, rewards: written(window_7d.rewards) },
      window_31d: { apr: window_31d.apr, rewards: written(window_31d.rewards) },
    },
  };
}

function written({ consensus_layer, execution_layer }: Rewards) {
  return { consensus_layer: String(consensus_layer), execution_layer: String(execution_layer) };
}

function aprOf({
  effective,
  rewards: { consensus_layer, execution_layer },
}: Pick<DayOfReturns, 'effective' | 'rewards'>) {
  const apr = (reward: bigint): number => Math.round((365e12 * Number(reward)) / Number(effective)) / 1e12;
  const combined = apr(consensus_layer + execution_layer);
  return { combined, consensus_layer: apr(consensus_layer), execution_layer: apr(execution_layer) };
}

/** The range object of an answer with these days. */
export function daysRange(chain: Chain, first: number, last: number) {
  return epochsRange(chain, first * EPOCHS_PER_DAY, (last + 1) * EPOCHS_PER_DAY - 1);
}

/** The moving averages are the values of the day itself. */
function drawnDay(seed: number, chain: Chain, day: number): DayOfReturns {
  const { genesis } = CHAINS[chain];
  const gwei = effectiveGwei(chain, day);
  // Amounts have more digits than a double can hold.
  const wei = (amount: number, n: number): bigint =>
    BigInt(Math.round(amount)) * 10n ** 9n + BigInt(between(0, 999_999_999, seed, genesis, day, n));
  const effective = BigInt(gwei) * 10n ** 9n;
  const deposits = BigInt(between(0, 3000, seed, genesis, day, 1)) * 10n ** 18n;
  const rewards = {
    consensus_layer: wei((gwei * (0.0276 + 0.0008 * unit(seed, genesis, day, 2))) / 365, 6),
    execution_layer: wei(between(220, 420, seed, genesis, day, 3) * 1e9, 7),
  };
  const average = { apr: aprOf({ effective, rewards }), rewards };
  return {
    effective,
    start: effective,
    end: effective + deposits + rewards.consensus_layer,
    deposits,
    rewards,
    averages: { window_7d: average, window_31d: average },
  };
}

/** Roughly the growth of the real chains (api-facts 3.6). */
function effectiveGwei(chain: Chain, day: number): number {
  return 1e9 * (chain === 'mainnet' ? 500_000 + 16_400 * day : 38_000_000 + 1000 * day);
}
