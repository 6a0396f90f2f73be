import { MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { MonotonicMs, UnixMs } from '../toolkit/lib/time.ts';
import type { Headers } from './headers.ts';

/** A waiting request. A route is an endpoint on a host. */
export interface QueuedRequest {
  readonly route: string;
  readonly priority: Priority;
}

/**
 * Permission to send one request. Call `release` once, with the head of the response if there is one. If the response closes the budget,
 * `release` returns a promise that resolves when this is saved: wait for it before using the response.
 */
export interface Permit {
  release(answer: { status: number; headers: Headers } | undefined): Promise<void> | undefined;
}

export interface Budget {
  /** @throws BudgetClosed when no request may be sent for a long time; the signal's reason when it aborts. */
  acquire(request: QueuedRequest, signal: AbortSignal): Promise<Permit>;
}

/** No request may be sent before `until` (Infinity: only after a new key or a restart). Not a failure of the service. */
export class BudgetClosed extends Error {
  override readonly name = 'BudgetClosed';
  readonly until: UnixMs;

  constructor(until: UnixMs) {
    super(Number.isFinite(until) ? `no request before ${new Date(until).toISOString()}` : 'access is revoked');
    this.until = until;
  }
}

/**
 * The order of waiting requests. First what a user must not miss, then the few requests per minute of the head pass, then the fleet,
 * because a large fleet always has a request waiting. Rare reads come last.
 */
export const PRIORITIES = [
  'slashing_details',
  'finalized_pass',
  'head_pass',
  'fleet',
  'own_validators',
  'once_a_day',
  'background',
  // Old epochs after a stop can take an hour at one request per second, so they get only what the others leave.
  'catch_up',
] as const;

export type Priority = (typeof PRIORITIES)[number];

/** After this wait a request goes first, whatever its priority. */
const STARVED_MS = MS_PER_MINUTE;

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
