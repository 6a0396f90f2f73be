import type { Clock } from '../../src/toolkit/lib/clock.ts';
import { unit } from '../../src/toolkit/lib/random.ts';

export interface WindowServerOptions {
  /** When a window of one second begins: at each whole second, or with the first request after the last window. */
  readonly windows: 'aligned' | 'opened_by_request';
  readonly seed: number;
  /** Requests per second by bucket. A test may change them at any time. */
  readonly limits: Record<string, number>;
  readonly bucketOf?: (route: string) => string;
  /** Another client uses up this share of the windows. */
  readonly neighbour?: number;
  /** `ratelimit-reset` of a 429, one after the other; default: 1. */
  readonly resets?: readonly string[];
}

interface Head {
  readonly status: number;
  readonly headers: Record<string, string>;
}

/** Counts requests as the service does: in windows of one second per bucket, with refused ones (api-facts 6.1). */
export class WindowServer {
  readonly #clock: Clock;
  readonly #options: WindowServerOptions;
  readonly #windows = new Map<string, { start: number; count: number }>();
  #draws = 0;
  /** When each request was counted, monotonic ms. */
  readonly arrivals: number[] = [];
  refused = 0;

  constructor(clock: Clock, options: WindowServerOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /** One request of 20 to 400 ms. The service counts it at a random time between start and end. */
  async exchange(route: string): Promise<Head> {
    const latency = 20 + 380 * this.#random();
    const there = latency * this.#random();
    await this.#clock.sleep(there);
    const head = this.#count(this.#options.bucketOf?.(route) ?? 'default');
    await this.#clock.sleep(latency - there);
    return head;
  }

  #count(bucket: string): Head {
    const limit = this.#options.limits[bucket] ?? 0;
    const window = this.#windowOf(bucket);
    window.count += 1;
    this.arrivals.push(this.#clock.monotonic());
    const headers = { 'ratelimit-bucket': bucket, 'x-ratelimit-limit-second': String(limit) };
    if (window.count <= limit) return { status: 200, headers };
    this.refused += 1;
    const { resets = ['1'] } = this.#options;
    return { status: 429, headers: { ...headers, 'ratelimit-reset': resets[this.refused % resets.length] ?? '1' } };
  }

  #windowOf(bucket: string): { start: number; count: number } {
    const now = this.#clock.now();
    const last = this.#windows.get(bucket);
    if (last && now < last.start + 1_000) return last;
    const { windows, neighbour = 0, limits } = this.#options;
    const isTaken = neighbour > 0 && this.#random() < neighbour;
    const start = windows === 'aligned' ? Math.floor(now / 1_000) * 1_000 : now;
    const window = { start, count: isTaken ? (limits[bucket] ?? 0) : 0 };
    this.#windows.set(bucket, window);
    return window;
  }

  #random(): number {
    this.#draws += 1;
    return unit(this.#options.seed, this.#draws);
  }
}
