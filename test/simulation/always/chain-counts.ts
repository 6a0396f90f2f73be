import type { Chain } from '../../../src/lib/chain.ts';
import { truthOfEpochs } from '../../support/chain-truth.ts';
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

/** Each counter as it is written in a scrape. */
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
  readonly slashings: ReadonlySet<number>;
}

export const NOTHING: Bounds = {
  low: COUNTERS.map(() => 0),
  high: COUNTERS.map(() => 0),
  slashings: new Set(),
};

/** What the finalized epochs of a chain add to the counters. */
export class EpochTruths {
  readonly #view: ChainView;
  readonly #known = new Map<string, Bounds>();

  constructor(view: ChainView) {
    this.#view = view;
  }

  /**
   * @param lists The lists of watched validators that may have been in force.
   * @param isHourLong Whether an hour is an hour for every process, so that none gives up a slot early.
   */
  of(epoch: number, lists: readonly (readonly number[])[], isHourLong: boolean): Bounds {
    const { incomplete, late } = this.#view;
    const isVague = incomplete.has(epoch) || (late.has(epoch) && !isHourLong);
    const key = `${epoch} ${lists.length} ${isVague}`;
    const known = this.#known.get(key) ?? this.#make(epoch, lists, isVague);
    this.#known.set(key, known);
    return known;
  }

  #make(epoch: number, lists: readonly (readonly number[])[], isVague: boolean): Bounds {
    const { chain } = this.#view;
    const truths = lists.map((list) => truthOfEpochs(chain, [epoch], new Set(), (one) => list.includes(one)).counters);
    const valuesOf = (counter: string): number[] => truths.map((counters) => counters[counter] ?? 0);
    const high = COUNTERS.map((counter) => Math.max(...valuesOf(counter)));
    // Absent rows are not counted, and a slot that stays scheduled counts as missed.
    if (isVague) {
      const most = COUNTERS.map((counter, i) => (counter.endsWith(' missed') ? 32 : (high[i] ?? 0)));
      return { low: NOTHING.low, high: most, slashings: new Set() };
    }
    const low = COUNTERS.map((counter) => Math.min(...valuesOf(counter)));
    return { low, high, slashings: new Set([...chain.canonical(epoch).values()].flat()) };
  }
}

/** The bounds after `count` of these epochs are counted too. */
export function after(before: Bounds, epochs: readonly Bounds[], count: number): Bounds {
  if (count === 0) return before;
  if (count === epochs.length) {
    const slashings = epochs.flatMap((one) => [...one.slashings]);
    return {
      low: sums(before.low, epochs, 'low'),
      high: sums(before.high, epochs, 'high'),
      slashings: slashings.length === 0 ? before.slashings : new Set([...before.slashings, ...slashings]),
    };
  }
  // It is not known which were skipped.
  const sorted = (i: number, side: 'low' | 'high'): number[] =>
    epochs.map((one) => one[side][i] ?? 0).sort((a, b) => (side === 'low' ? a - b : b - a));
  const some = (i: number, side: 'low' | 'high'): number =>
    (before[side][i] ?? 0) +
    sorted(i, side)
      .slice(0, count)
      .reduce((sum, value) => sum + value, 0);
  return {
    low: COUNTERS.map((_, i) => some(i, 'low')),
    high: COUNTERS.map((_, i) => some(i, 'high')),
    slashings: before.slashings,
  };
}

function sums(before: readonly number[], epochs: readonly Bounds[], side: 'low' | 'high'): number[] {
  return before.map((value, i) => epochs.reduce((sum, one) => sum + (one[side][i] ?? 0), value));
}
