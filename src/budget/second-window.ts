import type { Milliseconds, MonotonicMs } from '../toolkit/lib/time.ts';

/** A second, plus a margin for timers and clocks of 1 ms resolution. */
export const COUNTED_FOR_MS = 1_005;
/** More permits than requests per second, because a permit is in use until its response arrives. */
const LATENCY_HEADROOM = 1.25;

/**
 * Keeps one bucket below its limit per second without knowing when the server's fixed window begins. The server counts a request before
 * its response arrives, so a permit that is reused a second after the response cannot count twice in any window.
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

  /** How long until a request may be sent. 0 means now. */
  freeIn(now: MonotonicMs): Milliseconds {
    while (this.#cooling[0] !== undefined && this.#cooling[0] <= now) this.#cooling.shift();
    const wanted = this.#share() * LATENCY_HEADROOM;
    const permits = Math.max(1, Math.min(Math.floor(this.limit), Math.ceil(wanted)));
    // With permits to spare, space requests evenly, so that no period exceeds the intended rate. If the limit caps the permits,
    // make up for late responses: a burst of all permits still fits the window.
    const slack = permits < wanted ? permits : 0;
    const atShare = this.#lastAtShare + ((1 - slack) * 1000) / this.#share() - now;
    const over = this.#inFlight + this.#cooling.length - permits;
    if (over < 0) return Math.max(0, atShare);
    // All permits are in flight: the next response leads to a new check.
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

  /** The server has counted one request by now. */
  countOne(now: MonotonicMs): void {
    this.#cooling.push(now + COUNTED_FOR_MS);
  }

  /** The intended requests per second. */
  #share(): number {
    return this.limit * this.utilization;
  }
}
