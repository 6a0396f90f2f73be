import type { History } from '../sources/history.ts';
import { PageLog } from './page-log.ts';
import { halve, type Plan, type Slice } from './plan.ts';
import { afterSlice, isShortEnough, isTooLong, nextSlice, resultOf } from './queue.ts';
import { SliceReader, type SliceReaderOptions } from './slice-reader.ts';
import { Spacing } from './spacing.ts';
import type { WorkFolder } from './work-folder.ts';

export interface FetchOptions extends Pick<SliceReaderOptions, 'api' | 'clock' | 'onWait' | 'onPage'> {
  readonly folder: WorkFolder;
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
  await options.folder.tidy(plan);
  return new Fetch(options, plan).run(signal);
}

class Fetch {
  readonly #options: FetchOptions;
  #plan: Plan;
  readonly #begun = new Set<number>();
  #saved: Promise<void> = Promise.resolve();

  constructor(options: FetchOptions, plan: Plan) {
    this.#options = options;
    this.#plan = plan;
  }

  async run(signal: AbortSignal): Promise<Plan> {
    const { fullResolution, concurrency } = this.#options;
    // One at a time until it is known how long slices may be: all others could be too long, and read in vain.
    while (fullResolution && this.#plan.fullSeconds === undefined && (await this.#readNext(signal)));
    const failure = new AbortController();
    const either = AbortSignal.any([signal, failure.signal]);
    const readAll = async (): Promise<void> => {
      try {
        while (await this.#readNext(either));
      } catch (error) {
        failure.abort(error);
      }
    };
    await Promise.all(Array.from({ length: concurrency() }, readAll));
    signal.throwIfAborted();
    failure.signal.throwIfAborted();
    return this.#plan;
  }

  /** Resolves with false when no slice is left. */
  async #readNext(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const slice = nextSlice(this.#plan, this.#begun);
    if (!slice) return false;
    this.#begun.add(slice.id);
    const log = await PageLog.open(this.#options.folder.pagesOf(slice));
    try {
      if (!log.isDone) await this.#readOrHalve(slice, log, signal);
    } finally {
      await log.close();
    }
    return true;
  }

  async #readOrHalve(slice: Slice, log: PageLog, signal: AbortSignal): Promise<void> {
    const { histories, fullResolution, onSlice } = this.#options;
    const plan = this.#plan;
    if (isTooLong(plan, slice)) return this.#replace(halve(plan, slice));
    const history = histories.get(slice.source);
    if (!history) throw new TypeError(`no source ${slice.source}`);
    const spacing = fullResolution && !isShortEnough(plan, slice) ? new Spacing(new Map(plan.slow)) : undefined;
    const { now, covered } = plan;
    const given = { slice, history, log, spacing, now, covered: covered[slice.source], signal };
    const reader = new SliceReader({ ...this.#options, ...given });
    const isComplete = await reader.run();
    // Meanwhile other slices may have changed the plan.
    if (!isComplete) return this.#replace(afterSlice(this.#plan, slice, { kind: 'thinned' }));
    if (spacing) await this.#replace(afterSlice(this.#plan, slice, resultOf(spacing)));
    onSlice(slice);
  }

  /** Resolves when the plan is saved. One write at a time: the newest plan is written last. */
  async #replace(plan: Plan): Promise<void> {
    this.#plan = plan;
    this.#saved = this.#saved.then(() => this.#options.folder.save(plan));
    await this.#saved;
  }
}
