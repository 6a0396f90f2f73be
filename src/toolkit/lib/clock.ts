import { setImmediate, setTimeout } from 'node:timers/promises';
import { MS_PER_MINUTE } from './duration.ts';
import type { Milliseconds, MonotonicMs, UnixMs } from './time.ts';

/** The only access to real time. Pure code takes `now` as a parameter; tests pass a virtual clock. */
export interface Clock {
  /** The wall clock, which may step. */
  now(): UnixMs;
  /** Never steps; use it for durations and spacing. */
  monotonic(): MonotonicMs;
  /** Resolves after at least `ms`; rejects with the signal's reason when it aborts. */
  sleep(ms: Milliseconds, signal?: AbortSignal): Promise<void>;
}

/**
 * The result of `work`, or of `late` when that takes longer than `ms`. Work that takes too long continues in the
 * background.
 * @throws what either of them throws; the reason of `signal`
 */
export async function within<T, L>(
  clock: Clock,
  ms: Milliseconds,
  work: Promise<T>,
  late: () => L,
  signal?: AbortSignal,
): Promise<T | L> {
  const done = new AbortController();
  const timeout = clock.sleep(ms, signal ? AbortSignal.any([signal, done.signal]) : done.signal).then(late);
  timeout.catch(() => undefined);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    // Without a reason, an exception with a stack trace would be made for each call.
    done.abort('done');
  }
}

export type Pause = () => Promise<void> | undefined;

/** How long work may block the event loop, plus at most one of its steps. */
const SLICE_MS = 5;

/** Cuts work into slices, between which scrapes and other work run. Await the result after each step. */
export function pauseBetweenSlices(clock: Pick<Clock, 'monotonic'>): Pause {
  let sliceEnds = clock.monotonic() + SLICE_MS;
  return () => {
    if (clock.monotonic() < sliceEnds) return undefined;
    // After I/O the first immediate runs before timers and other I/O, the second one after them.
    return setImmediate()
      .then(() => setImmediate())
      .then(() => {
        sliceEnds = clock.monotonic() + SLICE_MS;
      });
  };
}

/** A sleep that can be ended early. */
export class Nap {
  #alarm = new AbortController();

  async sleep(clock: Clock, ms: Milliseconds): Promise<void> {
    this.#alarm = new AbortController();
    await clock.sleep(Math.max(0, ms), this.#alarm.signal).catch(() => undefined);
  }

  wake(): void {
    this.#alarm.abort('woken');
  }
}

/** A time further ahead of our clock than this is wrong: synchronized clocks differ by less. */
export const CLOCK_AHEAD_MS = 5 * MS_PER_MINUTE;
export const CLOCK_AHEAD_SECONDS = CLOCK_AHEAD_MS / 1000;

/** Node clamps longer timers to 1 ms (https://nodejs.org/api/timers.html#settimeoutcallback-delay-args). */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    // Node may fire up to 1 ms early against performance.now(), hence the loop.
    const end = performance.now() + ms;
    for (let left = ms; left > 0; left = end - performance.now()) {
      // setTimeout rejects with its own AbortError instead of the signal's reason.
      const ms = Math.min(Math.ceil(left), MAX_TIMER_MS);
      await setTimeout(ms, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
    signal?.throwIfAborted();
  },
};
