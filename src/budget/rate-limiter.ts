import type { Clock } from '../toolkit/lib/clock.ts';
import { MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import { HeldTime } from '../toolkit/lib/held-time.ts';
import type { MonotonicMs, Seconds, UnixMs } from '../toolkit/lib/time.ts';
import { type BudgetOptions, perSecondOf } from './bucket.ts';
import { type Headers, isRevoked, readHeaders } from './headers.ts';
import {
  answered,
  bucketOf,
  bucketsOf,
  isKeyClosed,
  type Ledger,
  opensAt,
  sent,
  settled,
  unanswered,
} from './ledger.ts';
import { type Budget, BudgetClosed, inOrder, type Permit, type QueuedRequest } from './permit.ts';
import { COUNTED_FOR_MS, SecondWindow } from './second-window.ts';

export interface RateLimiterDependencies {
  readonly clock: Clock;
  /** As left by the previous run. */
  readonly ledger: Ledger;
  /** Called whenever the ledger changes. */
  readonly onChange?: () => void;
  /** Saves the current ledger. Resolves even if that fails. */
  readonly keep?: () => Promise<void>;
  /** Called when a request is sent after a wait. */
  readonly onWait?: ((seconds: Seconds) => void) | undefined;
}

/** Responses that stop requests for a while, even after a restart. */
const CLOSING_STATUS: ReadonlySet<number> = new Set([401, 429]);

/** The longest wait for a closed bucket. Beyond it, the poll fails, and runs again when the bucket opens. */
const MAX_HOLD_MS = MS_PER_MINUTE;

interface Waiting extends QueuedRequest {
  readonly since: MonotonicMs;
  grant(permit: Permit): void;
  refuse(error: unknown): void;
}

/** Grants permits by priority, as fast as the ledger and the second windows of the buckets allow. */
export class RateLimiter implements Budget {
  #options: BudgetOptions;
  readonly #deps: RateLimiterDependencies;
  readonly #clock: Clock;
  readonly heldTime: HeldTime;
  /** By bucket. */
  readonly #windows = new Map<string, SecondWindow>();
  #ledger: Ledger;
  #waiting: Waiting[] = [];
  #alarm = new AbortController();
  #sentCount = 0;
  #inFlight = 0;
  /** Resolves when the last wait is saved. */
  #saved: Promise<void> | undefined;
  #quietUntil: MonotonicMs = Number.NEGATIVE_INFINITY;

  constructor(options: BudgetOptions, deps: RateLimiterDependencies) {
    this.#options = options;
    this.#deps = deps;
    this.#clock = deps.clock;
    this.heldTime = new HeldTime(deps.clock);
    this.#ledger = deps.ledger;
  }

  /** Brings the ledger to the current time, and returns it. The passing of time is no reason to save the ledger. */
  settleLedger(): Ledger {
    this.#ledger = settled(this.#ledger, this.heldTime.time());
    return this.#ledger;
  }

  /** Continues with other options or the ledger of another key. No request with the previous key may be in flight. */
  adopt(options: BudgetOptions, ledger: Ledger): void {
    if (ledger.key.fingerprint !== this.#ledger.key.fingerprint) {
      // The new key may be of the same account.
      this.#windows.clear();
      this.keepQuiet();
    }
    this.#options = options;
    this.#update(ledger);
    this.#dispatch();
  }

  /** Sends nothing for a second: another process, or another key, may have used up the current one. */
  keepQuiet(): void {
    this.#quietUntil = this.#clock.monotonic() + COUNTED_FOR_MS;
  }

  acquire(request: QueuedRequest, signal: AbortSignal): Promise<Permit> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<Permit>();
    const waiting: Waiting = { ...request, since: this.#clock.monotonic(), grant: resolve, refuse: reject };
    const cancel = (): void => {
      this.#remove(waiting);
      reject(signal.reason);
      // The timer may be for this request, and a pending timer would keep the process alive.
      this.#dispatch();
    };
    signal.addEventListener('abort', cancel, { once: true });
    this.#waiting.push(waiting);
    this.#dispatch();
    const forget = (): void => signal.removeEventListener('abort', cancel);
    promise.then(forget, forget);
    return promise;
  }

  /** Grants every permit that is possible now and sets a timer for the next. Called whenever that may have changed. */
  #dispatch(): void {
    // Without a reason, an exception with a stack trace would be made for each call.
    this.#alarm.abort('set again');
    const now = this.#clock.now();
    const monotonic = this.#clock.monotonic();
    this.settleLedger();
    let wake = Number.POSITIVE_INFINITY;
    const taken = new Set<SecondWindow>();
    for (const waiting of inOrder(this.#waiting, monotonic)) {
      const closedMs = opensAt(this.#ledger, waiting.route, this.#options, now) - now;
      if (closedMs > MAX_HOLD_MS) {
        this.#remove(waiting);
        const closed = new BudgetClosed(now + closedMs);
        if (this.#saved) this.#saved.then(() => waiting.refuse(closed));
        else waiting.refuse(closed);
      } else if (closedMs > 0) {
        wake = Math.min(wake, closedMs);
      } else {
        const windows = bucketsOf(this.#ledger, waiting.route).map((bucket) => this.#window(bucket));
        const waits = windows.map((window) =>
          taken.has(window) ? Number.POSITIVE_INFINITY : window.freeIn(monotonic),
        );
        const waitMs = Math.max(this.#quietUntil - monotonic, ...waits);
        wake = Math.min(wake, waitMs);
        if (waitMs <= 0) this.#send(waiting, windows, now, monotonic);
        // Requests behind it must not take its permit.
        else for (const window of windows) taken.add(window);
      }
    }
    if (wake === Number.POSITIVE_INFINITY) return;
    this.#alarm = new AbortController();
    this.#clock.sleep(wake, this.#alarm.signal).then(
      () => this.#dispatch(),
      () => undefined,
    );
  }

  #send(waiting: Waiting, windows: readonly SecondWindow[], now: UnixMs, monotonic: MonotonicMs): void {
    this.#remove(waiting);
    this.#deps.onWait?.((monotonic - waiting.since) / 1000);
    const isProbe = isKeyClosed(this.#ledger);
    this.#update(sent(this.#ledger, waiting.route, this.#options, now));
    this.#sentCount += 1;
    const order = this.#sentCount;
    const earlier = this.#inFlight;
    this.#inFlight += 1;
    for (const window of windows) window.sent(monotonic);
    waiting.grant({
      release: (answer) => {
        for (const window of windows) window.released(this.#clock.monotonic());
        this.#inFlight -= 1;
        // The service may have counted a simultaneous request after this one, whichever response comes first.
        const unaccounted = earlier + this.#sentCount - order;
        if (answer) this.#observe(waiting.route, { ...answer, isProbe, unaccounted });
        else this.#update(unanswered(this.#ledger, waiting.route, this.#options, this.#clock.now()));
        const isClosed = answer !== undefined && CLOSING_STATUS.has(answer.status);
        if (isClosed) this.#saved = this.#deps.keep?.();
        this.#dispatch();
        return isClosed ? this.#saved : undefined;
      },
    });
  }

  #update(ledger: Ledger): void {
    if (ledger === this.#ledger) return;
    this.#ledger = ledger;
    this.#deps.onChange?.();
  }

  #observe(
    route: string,
    { status, headers, ...sending }: { status: number; headers: Headers; isProbe: boolean; unaccounted: number },
  ): void {
    const now = this.#clock.now();
    const before = bucketOf(this.#ledger, route);
    const said = { status, revoked: isRevoked(status, headers), observation: readHeaders(headers, now) };
    this.#update(answered(this.#ledger, route, { ...sending, ...said }, this.#options, now));
    const after = bucketOf(this.#ledger, route);
    if (after === before) return;
    // Either the unnamed bucket got its name, or the request counted in the route's own bucket.
    const window = this.#windows.get(before);
    if (window && this.#ledger.buckets[before] === undefined) {
      this.#windows.delete(before);
      this.#windows.set(after, window);
    } else {
      this.#window(after).countOne(this.#clock.monotonic());
    }
  }

  /** The window of a bucket, with its current limit. */
  #window(bucket: string): SecondWindow {
    const window = this.#windows.get(bucket) ?? new SecondWindow();
    this.#windows.set(bucket, window);
    const limit = perSecondOf(this.#ledger.buckets[bucket], this.#options);
    return Object.assign(window, { limit, utilization: this.#options.utilization });
  }

  #remove(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
  }
}
