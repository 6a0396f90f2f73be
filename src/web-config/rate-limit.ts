import type { MonotonicMs } from '../lib/time.ts';
import type { RateLimit } from './load.ts';

/** A bucket that starts full and gets one token each interval, like golang.org/x/time/rate. */
export class TokenBucket {
  readonly limit: RateLimit;
  #tokens: number;
  #filledAt: MonotonicMs;

  constructor(limit: RateLimit, now: MonotonicMs) {
    this.limit = limit;
    this.#tokens = limit.burst;
    this.#filledAt = now;
  }

  /** Takes a token if there is one. */
  take(now: MonotonicMs): boolean {
    const { intervalMs, burst } = this.limit;
    this.#tokens = Math.min(burst, this.#tokens + (now - this.#filledAt) / intervalMs);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
