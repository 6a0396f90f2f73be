import { MS_PER_DAY } from '../lib/duration.ts';
import type { MonotonicMs } from '../lib/time.ts';
import type { Pace, Source } from '../sources/source.ts';
import { sourceId } from '../state/entry.ts';
import { isMaterialChange } from './paces.ts';

/** The cost of polls is learned in the first hour, in which every material change is logged. */
const LEARNING_MS = 3_600_000;

/** The paces that were logged last. */
interface Told {
  /** By source id, because a reload creates new source objects. */
  readonly paces: ReadonlyMap<string, Pace>;
  /** The limits from which the paces were computed. */
  readonly limits: string;
  readonly at: MonotonicMs;
}

/** Decides which paces are worth logging. */
export class PlanNews {
  #told: Told | undefined;
  /** When the first paces were logged. */
  #since: MonotonicMs | undefined;

  get isFirst(): boolean {
    return this.#told === undefined;
  }

  /**
   * Whether to log these paces: if they differ materially from those logged last. After the first hour, at most once a
   * day while the limits stay the same, because shortly before a quota renews every poll changes what is left per day.
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

  /** The configuration has changed: its paces are logged at once. */
  reset(): void {
    this.#since = undefined;
  }

  #isQuiet(told: Told, { limits, at }: Told): boolean {
    const isLearned = this.#since !== undefined && at - this.#since >= LEARNING_MS;
    return isLearned && limits === told.limits && at - told.at < MS_PER_DAY;
  }
}
