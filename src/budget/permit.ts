import type { UnixMs } from '../lib/time.ts';
import type { Headers } from './headers.ts';
import type { Priority } from './priority.ts';

/** A request that waits to be sent. A route is an endpoint on a host. */
export interface QueuedRequest {
  readonly route: string;
  readonly priority: Priority;
}

/**
 * Permission to send one request. `release` must be called once, with the head of the answer if one came. If the answer
 * closes the budget, `release` returns a promise that resolves when this is persisted. Wait for it before using the
 * answer.
 */
export interface Permit {
  release(answer: { status: number; headers: Headers } | undefined): Promise<void> | undefined;
}

export interface Budget {
  /** @throws BudgetClosed when no request may be sent for a long time; the signal's reason when it aborts. */
  acquire(request: QueuedRequest, signal: AbortSignal): Promise<Permit>;
}

/**
 * No request may be sent before `until` (Infinity: not before a new key or a restart). Not a failure of the service.
 */
export class BudgetClosed extends Error {
  override readonly name = 'BudgetClosed';
  readonly until: UnixMs;

  constructor(until: UnixMs) {
    super(Number.isFinite(until) ? `no request before ${new Date(until).toISOString()}` : 'access is revoked');
    this.until = until;
  }
}
