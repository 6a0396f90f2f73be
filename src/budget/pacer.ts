import type { Clock } from '../lib/clock.ts';
import { type Headers, isRevoked, readHeaders } from './headers.ts';
import { answered, bucketOf, type Ledger, opensAt, perSecondOf, sent } from './ledger.ts';
import { PRIORITIES, type Priority } from './priority.ts';
import { SecondWindow } from './second-window.ts';

/** A request that asks to leave. A lane is an endpoint on a host. */
export interface Departure {
  readonly lane: string;
  readonly priority: Priority;
}

/** Leave to send one request. `settle` must be called once, with the head of the answer if one came. */
export interface Permit {
  settle(answer: { status: number; headers: Headers } | undefined): void;
}

export interface Budget {
  /** @throws BudgetClosed when nothing may leave for a long time; the signal's reason when it aborts. */
  acquire(departure: Departure, signal: AbortSignal): Promise<Permit>;
}

/** Nothing may leave before `until` (Unix ms; Infinity: not without the operator). Not a failure of the service. */
export class BudgetClosed extends Error {
  override readonly name = 'BudgetClosed';
  readonly until: number;

  constructor(until: number) {
    super(Number.isFinite(until) ? `no request before ${new Date(until).toISOString()}` : 'access is revoked');
    this.until = until;
  }
}

export interface PacerOptions {
  /** Share of each limit to spend, in (0, 1]. */
  readonly utilization: number;
  /** The configured plan's requests per second; the service may grant less. */
  readonly perSecond?: number;
}

export interface PacerDependencies {
  readonly clock: Clock;
  /** What is known from before. */
  readonly ledger: Ledger;
}

/** A poll waits this long for a closed bucket; after that it is better told, and comes back when the bucket opens. */
const LONGEST_HOLD_MS = 60_000;
/** A request that waited this long goes first, whatever its priority. */
const STARVED_MS = 60_000;

interface Waiting extends Departure {
  readonly since: number;
  leave(permit: Permit): void;
  fail(error: unknown): void;
}

/** Lets waiting requests leave, by priority, as fast as the ledger and the second windows of their buckets allow. */
export class Pacer implements Budget {
  readonly #options: PacerOptions;
  readonly #clock: Clock;
  readonly #seconds = new Map<string, SecondWindow>();
  #ledger: Ledger;
  #waiting: Waiting[] = [];
  #waitedMs = 0;
  #alarm = new AbortController();

  constructor(options: PacerOptions, dependencies: PacerDependencies) {
    this.#options = options;
    this.#clock = dependencies.clock;
    this.#ledger = dependencies.ledger;
  }

  get ledger(): Ledger {
    return this.#ledger;
  }

  /** Milliseconds that requests have waited in all, those that still wait left out. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  /** Requests per second that may be spent on a bucket's second window, before `utilization`. */
  perSecond(bucket: string): number {
    return Math.min(perSecondOf(this.#ledger, bucket), this.#options.perSecond ?? Number.POSITIVE_INFINITY);
  }

  /** Unix ms from which a request on this lane may leave, its turn apart; Infinity: not on its own. */
  opensAt(lane: string): number {
    return opensAt(this.#ledger, lane);
  }

  acquire(departure: Departure, signal: AbortSignal): Promise<Permit> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const waiting: Waiting = {
        ...departure,
        since: this.#clock.monotonic(),
        leave: (permit) => {
          signal.removeEventListener('abort', give);
          resolve(permit);
        },
        fail: (error) => {
          signal.removeEventListener('abort', give);
          reject(error);
        },
      };
      const give = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        waiting.fail(signal.reason);
      };
      signal.addEventListener('abort', give, { once: true });
      this.#waiting.push(waiting);
      this.#dispatch();
    });
  }

  /** Lets go whoever may leave now, and sets an alarm for the next. Called whenever something that decides changes. */
  #dispatch(): void {
    this.#alarm.abort();
    const now = this.#clock.now();
    const monotonic = this.#clock.monotonic();
    let wake = Number.POSITIVE_INFINITY;
    const full = new Set<string>();
    for (const waiting of inOrder(this.#waiting, monotonic)) {
      const closedMs = opensAt(this.#ledger, waiting.lane) - now;
      const bucket = bucketOf(this.#ledger, waiting.lane);
      if (closedMs > LONGEST_HOLD_MS) {
        this.#remove(waiting);
        waiting.fail(new BudgetClosed(now + closedMs));
      } else if (closedMs > 0) {
        wake = Math.min(wake, closedMs);
      } else if (!full.has(bucket)) {
        const free = this.#second(bucket).freeIn(monotonic);
        if (free > 0) {
          full.add(bucket);
          wake = Math.min(wake, free);
        } else this.#depart(waiting, bucket, now, monotonic);
      }
    }
    if (wake < Number.POSITIVE_INFINITY) this.#setAlarm(wake);
  }

  #depart(waiting: Waiting, bucket: string, now: number, monotonic: number): void {
    this.#remove(waiting);
    this.#waitedMs += monotonic - waiting.since;
    this.#ledger = sent(this.#ledger, now);
    const second = this.#second(bucket);
    second.sent(monotonic);
    let settled = false;
    waiting.leave({
      settle: (answer) => {
        if (settled) return;
        settled = true;
        second.settled(this.#clock.monotonic());
        if (answer) this.#learn(waiting.lane, answer);
        this.#dispatch();
      },
    });
  }

  #learn(lane: string, { status, headers }: { status: number; headers: Headers }): void {
    const now = this.#clock.now();
    const before = bucketOf(this.#ledger, lane);
    const observation = readHeaders(headers, now);
    this.#ledger = answered(this.#ledger, lane, { status, revoked: isRevoked(status, headers), observation }, now);
    const after = bucketOf(this.#ledger, lane);
    if (after === before) return;
    const second = this.#seconds.get(before);
    // The unnamed bucket got its name; or the lane turns out to have one of its own, where this request counted.
    if (this.#ledger.buckets[before] === undefined && second) {
      this.#seconds.delete(before);
      this.#seconds.set(after, second);
    } else this.#second(after).countOne(this.#clock.monotonic());
  }

  #second(bucket: string): SecondWindow {
    let second = this.#seconds.get(bucket);
    if (!second) this.#seconds.set(bucket, (second = new SecondWindow(this.#options.utilization)));
    second.limit = this.perSecond(bucket);
    return second;
  }

  #remove(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
  }

  #setAlarm(ms: number): void {
    const alarm = new AbortController();
    this.#alarm = alarm;
    this.#clock.sleep(ms, alarm.signal).then(
      () => this.#dispatch(),
      () => undefined,
    );
  }
}

function inOrder(waiting: readonly Waiting[], monotonic: number): Waiting[] {
  const starved = (one: Waiting): boolean => monotonic - one.since >= STARVED_MS;
  return waiting.toSorted((a, b) => {
    if (starved(a) || starved(b)) return a.since - b.since;
    return PRIORITIES.indexOf(a.priority) - PRIORITIES.indexOf(b.priority) || a.since - b.since;
  });
}
