import type { Clock } from '../lib/clock.ts';
import type { Milliseconds, MonotonicMs, UnixMs } from '../lib/time.ts';

/** A smaller difference is network jitter, and not corrected. */
const MIN_STEP_MS = 250;

/**
 * The wall clock of the server that the replicas share. Their own clocks may differ, but a time in the shared state, such
 * as the end of a wait that the service asked for, must mean the same to all of them.
 */
export class ServerClock implements Clock {
  readonly #own: Clock;
  #offsetMs: Milliseconds = 0;

  constructor(own: Clock) {
    this.#own = own;
  }

  now(): UnixMs {
    return this.#own.now() + this.#offsetMs;
  }

  monotonic(): MonotonicMs {
    return this.#own.monotonic();
  }

  sleep(ms: Milliseconds, signal?: AbortSignal): Promise<void> {
    return this.#own.sleep(ms, signal);
  }

  /** @param serverNow Read by the server at some moment since the request was sent, `sinceMs` ago. */
  observe(serverNow: UnixMs, sinceMs: Milliseconds): void {
    const offset = serverNow - (this.#own.now() - sinceMs / 2);
    if (Math.abs(offset - this.#offsetMs) > MIN_STEP_MS + sinceMs / 2) this.#offsetMs = offset;
  }
}
