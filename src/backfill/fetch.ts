import { BudgetClosed } from '../budget/permit.ts';
import type { History } from '../sources/history.ts';
import type { Plan, Slice } from './plan.ts';
import { afterSlice, isShortEnough, nextSlice } from './queue.ts';
import { SliceReader, type SliceReaderOptions } from './slice-reader.ts';
import { Spacing } from './spacing.ts';

export interface FetchOptions extends Pick<SliceReaderOptions, 'api' | 'clock' | 'store' | 'onWait' | 'onPage'> {
  /** By the id of the source. */
  readonly histories: ReadonlyMap<string, History>;
  readonly fullResolution: boolean;
  /** How many slices to read concurrently. The pages of one slice are read one after the other. */
  readonly concurrency: () => number;
  /** Called when a slice is complete. */
  readonly onSlice: (slice: Slice) => void;
}

/** Concurrent slices for each request per second: enough to hide the latency of an answer, about half a second. */
const SLICES_PER_RATE = 0.6;
const MAX_CONCURRENCY = 8;

export function concurrencyAt(perSecond: number): number {
  return Math.min(MAX_CONCURRENCY, Math.ceil(perSecond * SLICES_PER_RATE));
}

/** Reads the slices that are not complete, oldest first, and returns the plan with what was learned. */
export async function fetchAll(options: FetchOptions, plan: Plan, signal: AbortSignal): Promise<Plan> {
  const { fullResolution, concurrency } = options;
  const fetch = new Fetch(options, plan);
  // One at a time until it is known how long slices may be. Otherwise several slices could be read that are too long.
  while (fullResolution && fetch.plan.fullSeconds === undefined && (await fetch.next(signal)));
  const failures: unknown[] = [];
  const failure = new AbortController();
  const either = AbortSignal.any([signal, failure.signal]);
  const readAll = async (): Promise<void> => {
    try {
      while (await fetch.next(either));
    } catch (error) {
      failures.push(error);
      // If the budget is closed, the others end by themselves after the pages that were already requested.
      if (!(error instanceof BudgetClosed)) failure.abort();
    }
  };
  await Promise.all(Array.from({ length: concurrency() }, readAll));
  signal.throwIfAborted();
  if (failures.length > 0) throw failures[0];
  return fetch.plan;
}

class Fetch {
  readonly #options: FetchOptions;
  readonly #begun: Set<number>;
  #plan: Plan;

  constructor(options: FetchOptions, plan: Plan) {
    this.#options = options;
    this.#begun = options.store.completeSlices();
    this.#plan = plan;
  }

  get plan(): Plan {
    return this.#plan;
  }

  /** Reads the next slice. Resolves with false when none is left. */
  async next(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const { plan, slice } = nextSlice(this.#plan, this.#begun);
    this.#replace(plan);
    if (!slice) return false;
    this.#begun.add(slice.id);
    const result = await this.#readerOf(slice, signal).run();
    // Meanwhile other slices may have changed the plan.
    this.#replace(afterSlice(this.#plan, slice, result));
    if (result.kind !== 'thinned') this.#options.onSlice(slice);
    return true;
  }

  #readerOf(slice: Slice, signal: AbortSignal): SliceReader {
    const { histories, fullResolution } = this.#options;
    const { now, covered, slow } = this.#plan;
    const history = histories.get(slice.source);
    if (!history) throw new TypeError(`no source ${slice.source}`);
    const spacing = fullResolution && !isShortEnough(this.#plan, slice) ? new Spacing(new Map(slow)) : undefined;
    const given = { slice, history, spacing, now, covered: covered[slice.source], signal };
    return new SliceReader({ ...this.#options, ...given });
  }

  #replace(plan: Plan): void {
    if (plan !== this.#plan) this.#options.store.save(plan);
    this.#plan = plan;
  }
}
