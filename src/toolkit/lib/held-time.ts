import type { Clock } from './clock.ts';
import { MS_PER_MINUTE } from './duration.ts';
import type { MonotonicMs, UnixMs } from './time.ts';

/** How long a time must hold before it decides what cannot be undone. */
export const HELD_FOR_MS = 2 * MS_PER_MINUTE;
/** A smaller step of the clock, or its drift, matters to no decision. */
const MIN_STEP_MS = 1_000;

/** The time for decisions that can be undone, and the one for those that cannot. */
export interface Time {
  readonly now: UnixMs;
  /** The time that has held. -Infinity: none, because the program has just started. */
  readonly held: UnixMs;
}

/**
 * The latest time that the wall clock has shown, or was past, for two minutes by the monotonic clock: two minutes behind a clock
 * that does not step. A clock can jump for seconds, and then nothing may be forgotten, given up or begun for good.
 */
export class HeldTime {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  /** What the wall clock showed, less the monotonic one, and since when. The newest is last; nothing held before the first. */
  #origins: { readonly since: MonotonicMs; readonly origin: number }[] = [
    { since: Number.NEGATIVE_INFINITY, origin: Number.NEGATIVE_INFINITY },
  ];

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock;
  }

  /** Also notes what the clock shows now. */
  time(): Time {
    const now = this.#clock.now();
    const monotonic = this.#clock.monotonic();
    const origin = now - monotonic;
    const last = this.#origins.at(-1)?.origin ?? Number.NEGATIVE_INFINITY;
    if (Math.abs(origin - last) > MIN_STEP_MS) this.#origins.push({ since: monotonic, origin });
    const from = monotonic - HELD_FOR_MS;
    this.#origins = this.#origins.filter((_, i, all) => (all[i + 1]?.since ?? Number.POSITIVE_INFINITY) > from);
    return { now, held: Math.min(...this.#origins.map((one) => one.origin + Math.max(one.since, from))) };
  }
}
