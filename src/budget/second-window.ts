import type { Milliseconds, MonotonicMs } from '../lib/time.ts';
/** A second, and a margin so that timers and clocks of 1 ms resolution cannot eat into it. */
export const COUNTED_FOR_MS = 1_005;
/** Permits beyond the share that is to be spent: a permit is idle for the latency of its last answer. */
const LATENCY_HEADROOM = 1.25;

/**
 * Keeps one bucket below its limit per second, though nobody knows when the server's fixed window begins: a request
 * was counted at the latest when its answer came, so a permit used again one second after that cannot count twice in
 * any window. Times are monotonic milliseconds.
 */
export class SecondWindow {
  #utilization: number;
  #limit = 1;
  #inFlight = 0;
  /** When the permits of answered requests are free again, ascending. */
  #cooling: MonotonicMs[] = [];
  /** Generic cell rate: when the last request would have left at exactly the share. */
  #lastAtShare: MonotonicMs = Number.NEGATIVE_INFINITY;

  constructor(utilization: number) {
    this.#utilization = utilization;
  }

  set limit(perSecond: number) {
    this.#limit = perSecond;
  }

  set utilization(share: number) {
    this.#utilization = share;
  }

  /** What has been counted in another window counts in this one, too. */
  include(other: SecondWindow): void {
    this.#cooling = [...this.#cooling, ...other.#cooling].sort((a, b) => a - b);
    this.#lastAtShare = Math.max(this.#lastAtShare, other.#lastAtShare);
  }

  /** Milliseconds until a request may leave; 0: now. */
  freeIn(now: MonotonicMs): Milliseconds {
    while (this.#cooling[0] !== undefined && this.#cooling[0] <= now) this.#cooling.shift();
    const wanted = this.#share() * LATENCY_HEADROOM;
    const permits = Math.max(1, Math.min(Math.floor(this.#limit), Math.ceil(wanted)));
    // With permits to spare requests leave evenly, so that no span of time spends more than the share. Where the limit
    // caps the permits, what one lost to a late answer may be made up for: a burst of all of them is within the window.
    const slack = permits < wanted ? permits : 0;
    const atShare = this.#lastAtShare + ((1 - slack) * 1000) / this.#share() - now;
    const over = this.#inFlight + this.#cooling.length - permits;
    if (over < 0) return Math.max(0, atShare);
    // All in flight: an answer comes first, and asks again.
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

  /** Requests per second that are to be spent. */
  #share(): number {
    return this.#limit * this.#utilization;
  }
}
