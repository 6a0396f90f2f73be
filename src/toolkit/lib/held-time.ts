import type { Clock } from './clock.ts';
import { MS_PER_MINUTE } from './duration.ts';
import type { UnixMs } from './time.ts';

/** How long a time must hold before it may decide anything irreversible. */
export const HELD_FOR_MS = 2 * MS_PER_MINUTE;
/** A smaller step of the clock matters to no decision. */
const MIN_STEP_MS = 1_000;

export interface Time {
  readonly now: UnixMs;
  /** The clock has been past this time for two minutes without a break. -Infinity: the program has just started. */
  readonly held: UnixMs;
}

/** Follows a clock that can jump for seconds: such a jump must not cause anything irreversible. */
export class HeldTime {
  readonly #clock: Clock;
  /** What the clock showed, less the monotonic time, and since when. The newest is last. */
  #origins = [{ since: -Infinity, origin: -Infinity }];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  time(): Time {
    const [now, since] = [this.#clock.now(), this.#clock.monotonic()];
    const [origin, from] = [now - since, since - HELD_FOR_MS];
    const isStep = Math.abs(origin - (this.#origins.at(-1)?.origin ?? 0)) > MIN_STEP_MS;
    const all = isStep ? [...this.#origins, { since, origin }] : this.#origins;
    this.#origins = all.filter((_, i) => (all[i + 1]?.since ?? since) > from);
    return { now, held: Math.min(...this.#origins.map((one) => one.origin + Math.max(one.since, from))) };
  }
}
