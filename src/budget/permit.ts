import type { UnixMs } from '../lib/time.ts';
import type { Headers } from './headers.ts';
import type { Priority } from './priority.ts';

/** A request that asks to leave. A route is an endpoint on a host. */
export interface QueuedRequest {
  readonly route: string;
  readonly priority: Priority;
}

/**
 * Leave to send one request. `release` must be called once, with the head of the answer if one came. Where that says to
 * wait, nobody is to be told before what it returns has resolved: then the wait is written.
 */
export interface Permit {
  release(answer: { status: number; headers: Headers } | undefined): Promise<void> | undefined;
}

export interface Budget {
  /** @throws BudgetClosed when nothing may leave for a long time; the signal's reason when it aborts. */
  acquire(request: QueuedRequest, signal: AbortSignal): Promise<Permit>;
}

/** Nothing may leave before `until` (Unix ms; Infinity: not before a new key or a restart). Not a failure of the service. */
export class BudgetClosed extends Error {
  override readonly name = 'BudgetClosed';
  readonly until: UnixMs;

  constructor(until: UnixMs) {
    super(Number.isFinite(until) ? `no request before ${new Date(until).toISOString()}` : 'access is revoked');
    this.until = until;
  }
}
