import { MS_PER_DAY } from '../lib/duration.ts';
import type { MonotonicMs } from '../lib/time.ts';
import type { Pace, Source } from '../sources/source.ts';
import { sourceId } from '../state/entry.ts';
import { isMaterialChange } from './paces.ts';

/** What polls cost is learned in the first hour: until then a plan is told anew as soon as it is known better. */
const LEARNING_MS = 3_600_000;

/** What the operator was told of. Times are monotonic ms. */
interface Told {
  /** By source id, because a reload makes sources anew. */
  readonly paces: ReadonlyMap<string, Pace>;
  /** The limits that the paces followed from. */
  readonly limits: string;
  readonly at: MonotonicMs;
}

/** What is new about the paces. */
export class PlanNews {
  #told: Told | undefined;
  /** When the first paces were told. */
  #since: MonotonicMs | undefined;

  get isFirst(): boolean {
    return this.#told === undefined;
  }

  /**
   * Whether these paces are to be told: if they differ materially from those that were. While the limits stay the same,
   * that is once a day at most, because with a quota that ends soon every poll changes what is left per day.
   */
  take(paces: ReadonlyMap<Source, Pace>, limits: () => string, now: MonotonicMs): boolean {
    const named = new Map([...paces].map(([source, pace]) => [sourceId(source), pace]));
    if (this.#told && !isMaterialChange(this.#told.paces, named)) return false;
    const next = { paces: named, limits: limits(), at: now };
    if (this.#told && this.#isQuiet(this.#told, next)) return false;
    this.#told = next;
    this.#since ??= now;
    return true;
  }

  /** The configuration is another: what becomes of it is told at once. */
  reset(): void {
    this.#since = undefined;
  }

  #isQuiet(told: Told, { limits, at }: Told): boolean {
    const isLearned = this.#since !== undefined && at - this.#since >= LEARNING_MS;
    return isLearned && limits === told.limits && at - told.at < MS_PER_DAY;
  }
}
