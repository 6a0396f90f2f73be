import { setTimeout } from 'node:timers/promises';
import { MS_PER_MINUTE } from './duration.ts';
import type { Milliseconds, MonotonicMs, UnixMs } from './time.ts';

/** The only door to real time. Pure code takes `now` as a parameter; tests hand in a virtual clock. */
export interface Clock {
  /** Wall-clock time, Unix milliseconds. May step. */
  now(): UnixMs;
  /** Milliseconds since an arbitrary origin. Never steps; use it for durations and spacing. */
  monotonic(): MonotonicMs;
  /** Resolves after at least `ms` milliseconds; rejects with the signal's reason when it aborts. */
  sleep(ms: Milliseconds, signal?: AbortSignal): Promise<void>;
}

/** What is dated further ahead of our clock is wrong: clocks are disciplined by less. */
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
      // It rejects with an AbortError of its own, not with the signal's reason.
      await setTimeout(Math.min(Math.ceil(left), MAX_TIMER_MS), undefined, signal ? { signal } : {}).catch(() =>
        signal?.throwIfAborted(),
      );
    }
    signal?.throwIfAborted();
  },
};
