import type { Clock } from '../lib/clock.ts';
import type { Milliseconds, MonotonicMs, UnixMs } from '../lib/time.ts';
import { allowedPerDay, type BudgetOptions, perSecondOf } from './bucket.ts';
import { ClockSteps, withoutFuture } from './clock-step.ts';
import { type Headers, isRevoked, readHeaders } from './headers.ts';
import {
  answered,
  bucketOf,
  isAssigned,
  isProbeDue,
  type Ledger,
  opensAt,
  sent,
  UNASSIGNED,
  unanswered,
} from './ledger.ts';
import { type Budget, BudgetClosed, type Permit, type QueuedRequest } from './permit.ts';
import { inOrder } from './priority.ts';
import { COUNTED_FOR_MS, type SecondWindow } from './second-window.ts';
import { SecondWindows } from './second-windows.ts';

export interface RateLimiterDependencies {
  readonly clock: Clock;
  /** What is known from before. */
  readonly ledger: Ledger;
  /** Told whenever the ledger is another. */
  readonly onChange?: () => void;
  /** Resolves when the ledger as it is now is written, or could not be. */
  readonly keep?: () => Promise<void>;
}

/** Answers after which nothing leaves for a while, also after a restart. */
const CLOSING_STATUS: ReadonlySet<number> = new Set([401, 429]);

/** A poll waits this long for a closed bucket; after that it is better told, and comes back when the bucket opens. */
const MAX_HOLD_MS = 60_000;

interface Waiting extends QueuedRequest {
  readonly since: MonotonicMs;
  leave(permit: Permit): void;
  fail(error: unknown): void;
}

/** Lets waiting requests leave, by priority, as fast as the ledger and the second windows of their buckets allow. */
export class RateLimiter implements Budget {
  #options: BudgetOptions;
  readonly #clock: Clock;
  readonly #seconds = new SecondWindows();
  readonly #clockSteps: ClockSteps;
  #ledger: Ledger;
  #waiting: Waiting[] = [];
  #waitedMs: Milliseconds = 0;
  #alarm = new AbortController();
  #sentCount = 0;
  /** Requests that were not answered yet. */
  #inFlight = 0;
  readonly #onChange: () => void;
  readonly #keep: () => Promise<void>;
  /** Resolves when the last wait is written. */
  #saved: Promise<void> | undefined;
  /** Monotonic. The process before this one may have used up the second that it ended in. */
  readonly #quietUntil: MonotonicMs;

  constructor(options: BudgetOptions, dependencies: RateLimiterDependencies) {
    this.#options = options;
    this.#clock = dependencies.clock;
    this.#clockSteps = new ClockSteps(this.#clock);
    this.#ledger = withoutFuture(dependencies.ledger, this.#clock.now());
    this.#onChange = dependencies.onChange ?? (() => undefined);
    this.#keep = dependencies.keep ?? (() => Promise.resolve());
    const isFirstStart = this.#ledger.key.standing === 'unknown';
    this.#quietUntil = this.#clock.monotonic() + (isFirstStart ? 0 : COUNTED_FOR_MS);
  }

  /** What is known, by the clock as it is set now. */
  get ledger(): Ledger {
    this.#update(this.#clockSteps.follow(this.#ledger));
    return this.#ledger;
  }

  /** Milliseconds that requests have waited in all, those that still wait left out. */
  get waitedMs(): Milliseconds {
    return this.#waitedMs;
  }

  /** Requests per second that may be spent on a bucket's second window, before `utilization`. */
  perSecond(bucket: string): number {
    return perSecondOf(this.#ledger.buckets[bucket], this.#options);
  }

  /** Requests per day that the limits leave this exporter on a bucket. */
  allowedPerDay(bucket: string): number {
    return allowedPerDay(this.#ledger.buckets[bucket], this.#options, this.#clock.now());
  }

  bucketOf(route: string): string {
    return bucketOf(this.#ledger, route);
  }

  /** Unix ms from which a request on this route may leave, its turn apart; Infinity: not on its own. */
  opensAt(route: string): UnixMs {
    return opensAt(this.ledger, route, this.#options, this.#clock.now());
  }

  /** Goes on with other options, or with what is known of another key; no request of the one before is under way. */
  adopt(options: BudgetOptions, ledger: Ledger): void {
    if (ledger.key.fingerprint !== this.#ledger.key.fingerprint) this.#seconds.merge(UNASSIGNED);
    this.#options = options;
    this.#update(ledger);
    this.#dispatch();
  }

  acquire(request: QueuedRequest, signal: AbortSignal): Promise<Permit> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const waiting: Waiting = {
        ...request,
        since: this.#clock.monotonic(),
        leave: (permit) => {
          signal.removeEventListener('abort', cancel);
          resolve(permit);
        },
        fail: (error) => {
          signal.removeEventListener('abort', cancel);
          reject(error);
        },
      };
      const cancel = (): void => {
        this.#remove(waiting);
        waiting.fail(signal.reason);
        // The alarm may have been for this one, and a timer keeps a process from ending.
        this.#dispatch();
      };
      signal.addEventListener('abort', cancel, { once: true });
      this.#waiting.push(waiting);
      this.#dispatch();
    });
  }

  /** Lets go whoever may leave now, and sets an alarm for the next. Called whenever something that decides changes. */
  #dispatch(): void {
    this.#alarm.abort();
    this.#update(this.#clockSteps.follow(this.#ledger));
    const now = this.#clock.now();
    const monotonic = this.#clock.monotonic();
    let wake = Number.POSITIVE_INFINITY;
    const taken = new Set<SecondWindow>();
    for (const waiting of inOrder(this.#waiting, monotonic)) {
      const closedMs = isProbeDue(this.#ledger, waiting.route, now)
        ? 0
        : opensAt(this.#ledger, waiting.route, this.#options, now) - now;
      if (closedMs > MAX_HOLD_MS) {
        this.#remove(waiting);
        const closed = new BudgetClosed(now + closedMs);
        if (this.#saved) this.#saved.then(() => waiting.fail(closed));
        else waiting.fail(closed);
      } else if (closedMs > 0) {
        wake = Math.min(wake, closedMs);
      } else {
        const seconds = this.#secondsOf(waiting.route);
        const waits = seconds.map((second) =>
          taken.has(second) ? Number.POSITIVE_INFINITY : second.freeIn(monotonic),
        );
        const free = Math.max(this.#quietUntil - monotonic, ...waits);
        wake = Math.min(wake, free);
        if (free <= 0) this.#send(waiting, seconds, now, monotonic);
        // Nobody behind it takes what it waits for.
        else for (const second of seconds) taken.add(second);
      }
    }
    if (wake < Number.POSITIVE_INFINITY) this.#setAlarm(wake);
  }

  #send(waiting: Waiting, seconds: readonly SecondWindow[], now: UnixMs, monotonic: MonotonicMs): void {
    this.#remove(waiting);
    this.#waitedMs += monotonic - waiting.since;
    this.#update(sent(this.#ledger, waiting.route, this.#options, now));
    this.#sentCount += 1;
    const order = this.#sentCount;
    const earlier = this.#inFlight;
    this.#inFlight += 1;
    for (const second of seconds) second.sent(monotonic);
    let isReleased = false;
    waiting.leave({
      release: (answer) => {
        if (isReleased) return undefined;
        isReleased = true;
        for (const second of seconds) second.released(this.#clock.monotonic());
        this.#inFlight -= 1;
        // What was under way at any time with this one may have been counted after it, whichever was answered first.
        const unaccounted = earlier + this.#sentCount - order;
        if (answer) this.#observe(waiting.route, { ...answer, sentAt: now, unaccounted });
        else this.#update(unanswered(this.#ledger, waiting.route, this.#options, this.#clock.now()));
        const isClosed = answer !== undefined && CLOSING_STATUS.has(answer.status);
        if (isClosed) this.#saved = this.#keep();
        this.#dispatch();
        return isClosed ? this.#saved : undefined;
      },
    });
  }

  #update(ledger: Ledger): void {
    if (ledger === this.#ledger) return;
    this.#ledger = ledger;
    this.#onChange();
  }

  #observe(
    route: string,
    { status, headers, ...sending }: { status: number; headers: Headers; sentAt: UnixMs; unaccounted: number },
  ): void {
    const now = this.#clock.now();
    const before = bucketOf(this.#ledger, route);
    const said = { status, revoked: isRevoked(status, headers), observation: readHeaders(headers, now) };
    this.#update(answered(this.#ledger, route, { ...sending, ...said }, this.#options, now));
    const after = bucketOf(this.#ledger, route);
    if (after === before) return;
    // The unnamed bucket got its name; or the route turns out to have one of its own, where this request counted.
    const isRenamed = this.#ledger.buckets[before] === undefined && this.#seconds.rename(before, after);
    if (!isRenamed) this.#second(after).countOne(this.#clock.monotonic());
  }

  /**
   * The second windows that a request may count in. A route that no answer has assigned may turn out to be in any bucket,
   * or in a new one of which the slowest is assumed: it counts in all.
   */
  #secondsOf(route: string): SecondWindow[] {
    if (isAssigned(this.#ledger, route)) return [this.#second(bucketOf(this.#ledger, route))];
    const buckets = new Set([UNASSIGNED, ...Object.keys(this.#ledger.buckets)]);
    return [...buckets].map((bucket) => this.#second(bucket));
  }

  #second(bucket: string): SecondWindow {
    return this.#seconds.of(bucket, this.perSecond(bucket), this.#options.utilization);
  }

  #remove(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
  }

  #setAlarm(ms: Milliseconds): void {
    const alarm = new AbortController();
    this.#alarm = alarm;
    this.#clock.sleep(ms, alarm.signal).then(
      () => this.#dispatch(),
      () => undefined,
    );
  }
}
