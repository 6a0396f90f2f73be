/** What a permit waits on top of the second, so that timers and clocks of 1 ms resolution cannot eat it. */
const MARGIN_MS = 5;
/** Permits beyond the share that is to be spent: a permit is idle for the latency of its last answer. */
const LATENCY_HEADROOM = 1.25;

/**
 * Keeps one bucket below its limit per second, though nobody knows when the server's fixed window begins: a request
 * was counted at the latest when its answer came, so a permit used again one second after that cannot count twice in
 * any window. Times are monotonic milliseconds.
 */
export class SecondWindow {
  readonly #utilization: number;
  #limit = 1;
  #inFlight = 0;
  /** When the permits of answered requests are free again, ascending. */
  #cooling: number[] = [];
  /** Generic cell rate: when the next request would leave at exactly the share. */
  #nextAtShare = Number.NEGATIVE_INFINITY;

  constructor(utilization: number) {
    this.#utilization = utilization;
  }

  set limit(perSecond: number) {
    this.#limit = perSecond;
  }

  /** Milliseconds until a request may leave; 0: now. */
  freeIn(now: number): number {
    while (this.#cooling[0] !== undefined && this.#cooling[0] <= now) this.#cooling.shift();
    const share = this.#limit * this.#utilization;
    const permits = Math.max(1, Math.min(Math.floor(this.#limit), Math.ceil(share * LATENCY_HEADROOM)));
    // A burst of all permits is within the window, so the average alone is held to the share.
    const atShare = this.#nextAtShare - (permits * 1000) / share - now;
    const over = this.#inFlight + this.#cooling.length - permits;
    if (over < 0) return Math.max(0, atShare);
    // All in flight: an answer comes first, and asks again.
    return Math.max(this.#cooling[over] === undefined ? Number.POSITIVE_INFINITY : this.#cooling[over] - now, atShare);
  }

  sent(now: number): void {
    this.#inFlight += 1;
    this.#nextAtShare = Math.max(this.#nextAtShare, now) + 1000 / (this.#limit * this.#utilization);
  }

  settled(now: number): void {
    this.#inFlight -= 1;
    this.countOne(now);
  }

  /** One request was counted by the server no later than now. */
  countOne(now: number): void {
    this.#cooling.push(now + 1000 + MARGIN_MS);
  }
}
