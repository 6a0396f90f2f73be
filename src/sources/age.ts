import { CLOCK_AHEAD_MS } from '../toolkit/lib/clock.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';

/** A value from far ahead of our clock was read before the clock was set back, so its age is unknown. */
export function isShown(readAt: UnixMs, ageMs: Milliseconds, now: UnixMs): boolean {
  return now - readAt <= ageMs && readAt - now <= CLOCK_AHEAD_MS;
}

/** The times at which `isShown` changes. */
export function shownChanges(readAt: UnixMs, ageMs: Milliseconds): readonly UnixMs[] {
  return [readAt - CLOCK_AHEAD_MS, readAt + ageMs + 1];
}

/** The first of the times after now; Infinity: none. */
export function nextOf(times: readonly UnixMs[], now: UnixMs): UnixMs {
  return times.reduce((next, at) => (at > now ? Math.min(next, at) : next), Number.POSITIVE_INFINITY);
}
