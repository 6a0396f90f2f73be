import type { Milliseconds, MonotonicMs } from '../toolkit/lib/time.ts';

/** A second, plus a margin for timers and clocks with a resolution of 1 ms. */
export const COUNTED_FOR_MS = 1_005;
/** More permits than requests per second, because a permit is in use until its answer comes. */
const LATENCY_HEADROOM = 1.25;

/**
 * Keeps one bucket below its limit per second without knowing when the server's fixed window begins. A request was
 * counted no later than its answer came, so a permit that is used again one second later cannot count twice in any
 * window.
 */
export class SecondWindow {
  /** Requests per second. */
  limit = 1;
  /** Share of the limit to spend. */
  utilization = 1;
  #inFlight = 0;
  /** When the permits of answered requests become free, ascending. */
  #cooling: MonotonicMs[] = [];
  /** When the last request would have been sent at exactly the intended rate (generic cell rate algorithm). */
  #lastAtShare: MonotonicMs = Number.NEGATIVE_INFINITY;

  /** Counts the requests of another window in this one too. */
  include(other: SecondWindow): void {
    this.#cooling = [...this.#cooling, ...other.#cooling].sort((a, b) => a - b);
    this.#lastAtShare = Math.max(this.#lastAtShare, other.#lastAtShare);
  }

  /** How long until a request may be sent; 0: now. */
  freeIn(now: MonotonicMs): Milliseconds {
    while (this.#cooling[0] !== undefined && this.#cooling[0] <= now) this.#cooling.shift();
    const wanted = this.#share() * LATENCY_HEADROOM;
    const permits = Math.max(1, Math.min(Math.floor(this.limit), Math.ceil(wanted)));
    // With permits to spare, requests are spaced evenly, so that no period exceeds the intended rate. If the limit caps
    // the permits, time lost to a late answer may be made up: a burst of all permits still fits the window.
    const slack = permits < wanted ? permits : 0;
    const atShare = this.#lastAtShare + ((1 - slack) * 1000) / this.#share() - now;
    const over = this.#inFlight + this.#cooling.length - permits;
    if (over < 0) return Math.max(0, atShare);
    // All permits are in flight: the next answer leads to a new check.
    return Math.max(this.#cooling[over] === undefined ? Number.POSITIVE_INFINITY : this.#cooling[over] - now, atShare);
  }

  sent(now: MonotonicMs): void {
    this.#inFlight += 1;
    this.#lastAtShare = Math.max(this.#lastAtShare + 1000 / this.#share(), now);
  }

  released(now: MonotonicMs): void {
    this.#inFlight -= 1;
    this.countOne(now);
  }

  /** One request was counted by the server no later than now. */
  countOne(now: MonotonicMs): void {
    this.#cooling.push(now + COUNTED_FOR_MS);
  }

  /** The intended requests per second. */
  #share(): number {
    return this.limit * this.utilization;
  }
}

/** The second windows of an account by bucket name. */
export class SecondWindows {
  #windows = new Map<string, SecondWindow>();

  /** The window of a bucket, with its current limit and utilization. */
  of(bucket: string, limit: number, utilization: number): SecondWindow {
    const window = this.#windows.get(bucket) ?? new SecondWindow();
    this.#windows.set(bucket, window);
    return Object.assign(window, { limit, utilization });
  }

  /** Renames the bucket. False: it had no window. */
  rename(before: string, after: string): boolean {
    const window = this.#windows.get(before);
    if (!window) return false;
    this.#windows.delete(before);
    this.#windows.set(after, window);
    return true;
  }

  /** Replaces all windows by one of this name, in which every request so far counts. */
  merge(name: string): void {
    const merged = new SecondWindow();
    for (const window of this.#windows.values()) merged.include(window);
    this.#windows = new Map([[name, merged]]);
  }
}
