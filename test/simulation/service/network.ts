import type { Random } from '../random.ts';

/** The network as it is before anything happens. Plain data. */
export interface NetworkSetting {
  /** Milliseconds from request to answer: mostly near `low`. `isEven`: any is as likely, and any half-way. */
  readonly latency: { readonly low: number; readonly high: number; readonly isEven?: boolean };
  readonly faults: NetworkFaults;
}

/** Shares of the requests. */
export const NO_FAULTS = {
  /** The request is lost before the service has counted it. */
  lostBefore: 0,
  /** Its answer is lost. */
  lostAfter: 0,
  /** The connection is reset while the request or the answer is on its way. */
  reset: 0,
  /** It takes up to twice the timeout. */
  slow: 0,
  /** The body breaks off. */
  brokenBody: 0,
  /** The body stalls until the timeout. */
  stalledBody: 0,
};
export type NetworkFaults = Readonly<typeof NO_FAULTS>;

/** What becomes of one request. */
export interface Way {
  /** Until the service counts it, ms. */
  readonly there: number;
  /** From then until the head of the answer is there, ms. */
  readonly back: number;
  /**
   * `lost`: no answer comes. `reset`: the connection ends when the head of the answer should come. With `broken` and
   * `stalled` a part of the body comes.
   */
  readonly end: 'whole' | 'lost' | 'reset' | 'broken' | 'stalled';
  /** Whether it reaches the service. */
  readonly arrives: boolean;
}

export function drawNetwork(random: Random): NetworkSetting {
  const low = random.scale(5, 400);
  const share = (): number => (random.happens(0.8) ? 0 : random.scale(1, 50) / 1_000);
  const [lostBefore, lostAfter, reset, slow] = [share(), share(), share(), share()];
  const faults = { lostBefore, lostAfter, reset, slow, brokenBody: share(), stalledBody: share() };
  return { latency: { low, high: low * random.between(1, 10) }, faults };
}

/** The way between the process and the service. */
export class Network {
  readonly #latency: NetworkSetting['latency'];
  #faults: NetworkFaults;
  #cut: { readonly until: number; readonly how: 'refused' | 'silent' } | undefined;
  /** Faults for a limited time. */
  #spell: { readonly faults: NetworkFaults; readonly until: number } | undefined;

  constructor({ latency, faults }: NetworkSetting) {
    this.#latency = latency;
    this.#faults = faults;
  }

  /** Other faults until a time. */
  disturb(faults: Partial<NetworkFaults>, until: number): void {
    this.#spell = { faults: { ...NO_FAULTS, ...faults }, until };
  }

  /** Nothing gets through. `refused`: it fails at once. */
  cut(until: number, how: 'refused' | 'silent'): void {
    this.#cut = { until, how };
  }

  calm(): void {
    this.#faults = NO_FAULTS;
    this.#spell = undefined;
    this.#cut = undefined;
  }

  /** What becomes of a request that is sent at `now`. */
  way(now: number, timeoutMs: number, random: Random): Way {
    const { low, high, isEven } = this.#latency;
    const faults = this.#spell && now < this.#spell.until ? this.#spell.faults : this.#faults;
    const isSlow = random.happens(faults.slow);
    const total = isSlow ? random.unit() * 2 * timeoutMs : low + (high - low) * random.unit() ** (isEven ? 1 : 4);
    const there = Math.round(total * (isEven ? random.unit() : 0.5));
    const way = { there, back: Math.round(total) - there };
    if (this.#cut && now < this.#cut.until)
      return { there: 0, back: 1, end: this.#cut.how === 'refused' ? 'reset' : 'lost', arrives: false };
    if (random.happens(faults.lostBefore)) return { ...way, end: 'lost', arrives: false };
    if (random.happens(faults.lostAfter)) return { ...way, end: 'lost', arrives: true };
    if (random.happens(faults.reset)) return { ...way, end: 'reset', arrives: random.happens(0.5) };
    if (random.happens(faults.brokenBody)) return { ...way, end: 'broken', arrives: true };
    if (random.happens(faults.stalledBody)) return { ...way, end: 'stalled', arrives: true };
    return { ...way, end: 'whole', arrives: true };
  }
}
