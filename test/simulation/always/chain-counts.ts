import type { Chain } from '../../../src/facts/chain.ts';
import type { AttesterSlashing } from '../../../src/sandbox/chain-world.ts';
import { canonicalSlashings, truthOf } from '../service/chain-truth.ts';
import type { ChainView } from '../service/chain-view.ts';

/** The counters of finalized epochs, as `truthOf` names them. */
export const COUNTERS = [
  'slots_total proposed',
  'slots_total missed',
  'slots_total orphaned',
  'watched_proposals_total proposed',
  'watched_proposals_total missed',
  'watched_proposals_total orphaned',
  'block_attestations_total',
  'block_deposits_total',
  'block_voluntary_exits_total',
  'block_withdrawals_total',
  'block_transactions_total',
  'block_gas_used_total',
  'proposer_slashings_total',
] as const;

/** Each counter as written in a scrape. */
export function seriesOfCounters(chain: Chain): string[] {
  return COUNTERS.map((counter) => {
    const [name, status] = counter.split(' ');
    return `beaconchain_${name}{chain="${chain}"${status === undefined ? '' : `,status="${status}"`}}`;
  });
}

/** What can be counted truly: from the least to the most of each counter, and the slashings that must be counted. */
export interface Bounds {
  readonly low: readonly number[];
  readonly high: readonly number[];
  readonly slashings: ReadonlySet<AttesterSlashing>;
}

const ZEROS = COUNTERS.map(() => 0);
export const NOTHING: Bounds = { low: ZEROS, high: ZEROS, slashings: new Set() };

/**
 * What a finalized epoch adds to the counters.
 * @param lists The lists of watched validators that may have been in force.
 * @param isHourLong Whether an hour is an hour for every process, so that none gives up a slot early.
 */
export function epochBounds(
  { chain: { world }, late }: ChainView,
  epoch: number,
  lists: readonly (readonly number[])[],
  isHourLong: boolean,
): Bounds {
  const truths = lists.map((list) => truthOf(world, [epoch], new Set(), (one) => list.includes(one)));
  const all = COUNTERS.map((counter) => truths.map((counters) => counters[counter] ?? 0));
  const high = all.map((values) => Math.max(...values));
  // A slot that stays scheduled counts as missed.
  if (late.has(epoch) && !isHourLong) {
    const most = COUNTERS.map((counter, i) => (counter.endsWith(' missed') ? 32 : Number(high[i])));
    return { low: ZEROS, high: most, slashings: new Set() };
  }
  const slashings = new Set(canonicalSlashings(world, epoch));
  return { low: all.map((values) => Math.min(...values)), high, slashings };
}

/** The bounds after `count` of these epochs are counted too. Which ones is not known, unless it is all. */
export function after(before: Bounds, epochs: readonly Bounds[], count: number): Bounds {
  const total = (i: number, side: 'low' | 'high'): number => {
    const values = epochs.map((one) => Number(one[side][i])).sort((a, b) => (side === 'low' ? a - b : b - a));
    return values.slice(0, count).reduce((sum, value) => sum + value, Number(before[side][i]));
  };
  const sure = count === epochs.length ? epochs.flatMap(({ slashings }) => [...slashings]) : [];
  return {
    low: ZEROS.map((_, i) => total(i, 'low')),
    high: ZEROS.map((_, i) => total(i, 'high')),
    slashings: sure.length === 0 ? before.slashings : new Set([...before.slashings, ...sure]),
  };
}
