import type { RateLimit } from './load.ts';

/** A bucket that starts full and gets one token each interval, like golang.org/x/time/rate. */
export class TokenBucket {
  readonly limit: RateLimit;
  #tokens: number;
  #filledAt: number;

  /** @param now Monotonic, ms. */
  constructor(limit: RateLimit, now: number) {
    this.limit = limit;
    this.#tokens = limit.burst;
    this.#filledAt = now;
  }

  /** Takes a token if there is one. */
  take(now: number): boolean {
    const { intervalMs, burst } = this.limit;
    this.#tokens = Math.min(burst, this.#tokens + (now - this.#filledAt) / intervalMs);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
