import type { MonotonicMs } from '../lib/time.ts';
/**
 * Who leaves first when requests wait: what a user must not miss, then a few requests a minute, before those of a fleet so
 * large that there is always one, then the slow rest.
 */
export const PRIORITIES = [
  'slashing_details',
  'finalized_pass',
  'head_pass',
  'machines',
  'daily_returns',
  'sync_committee',
  // Reading old epochs after a stop can take an hour at one request a second: it fills the gaps the others leave.
  'catch_up',
] as const;

export type Priority = (typeof PRIORITIES)[number];

/** A request that waited this long goes first, whatever its priority. */
const STARVED_MS = 60_000;

/** Those who wait, first to leave first. `since` and `now` are monotonic milliseconds. */
export function inOrder<T extends { readonly priority: Priority; readonly since: MonotonicMs }>(
  waiting: readonly T[],
  now: MonotonicMs,
): T[] {
  const isStarved = (one: T): boolean => now - one.since >= STARVED_MS;
  return waiting.toSorted((a, b) => {
    if (isStarved(a) || isStarved(b)) return a.since - b.since;
    return PRIORITIES.indexOf(a.priority) - PRIORITIES.indexOf(b.priority) || a.since - b.since;
  });
}
