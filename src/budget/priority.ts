import type { MonotonicMs } from '../lib/time.ts';

/**
 * The order in which waiting requests are sent. Requests that a user must not miss come first, then the few requests
 * per minute of the head pass. Machines come after it, because a large fleet always has a request waiting. The slow
 * sources come last.
 */
export const PRIORITIES = [
  'slashing_details',
  'finalized_pass',
  'head_pass',
  'machines',
  'validators',
  'daily_returns',
  'sync_committee',
  // Reading old epochs after a downtime can take an hour at one request per second, so it uses only what the others
  // leave.
  'catch_up',
] as const;

export type Priority = (typeof PRIORITIES)[number];

/** A request that waited this long goes first, whatever its priority. */
const STARVED_MS = 60_000;

/** The waiting requests in the order in which they are sent. */
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
