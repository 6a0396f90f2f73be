import type { Clock } from '../../../src/toolkit/lib/clock.ts';

interface Timer {
  readonly at: number;
  fire(): void;
}

/**
 * A clock that moves only by `advance`. It fires timers in order. Before each timer it waits for all work that the one
 * before has started. So a month passes in seconds, and each run is the same.
 */
export class VirtualClock implements Clock {
  readonly #settled: () => Promise<void>;
  #now: number;
  #elapsed = 0;
  #timers: Timer[] = [];

  /**
   * @param now Unix ms at the start.
   * @param settled Waits for work that takes real time. The clock stands still meanwhile.
   */
  constructor(now: number, settled: () => Promise<void> = settle) {
    this.#now = now;
    this.#settled = settled;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  /** Sets the wall clock without time passing, as NTP or an administrator does. */
  step(ms: number): void {
    this.#now += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer: Timer = {
        at: this.#elapsed + Math.max(0, ms),
        fire: () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        },
      };
      const abort = (): void => {
        this.#timers = this.#timers.filter((other) => other !== timer);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', abort, { once: true });
      const i = this.#timers.findIndex((other) => other.at > timer.at);
      this.#timers.splice(i === -1 ? this.#timers.length : i, 0, timer);
    });
  }

  /** Lets `ms` pass. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    await this.#settled();
    for (let next = this.#timers[0]; next && next.at <= end; next = this.#timers[0]) {
      this.#timers.shift();
      this.#move(Math.max(0, next.at - this.#elapsed));
      next.fire();
      await this.#settled();
    }
    this.#move(Math.max(0, end - this.#elapsed));
  }

  #move(ms: number): void {
    this.#elapsed += ms;
    this.#now += ms;
  }
}

/** Lets virtual time pass until the promise settles, also one that waits for real input and output. */
export async function settled<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let done = false;
  const note = (): void => {
    done = true;
  };
  promise.then(note, note);
  while (!done) await clock.advance(10);
  return promise;
}

/** Waits for all promise jobs: a macrotask runs after them. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
