import type { Clock } from '../../src/toolkit/lib/clock.ts';
import { settle } from '../support/time/virtual-clock.ts';

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

/**
 * True time, and the only queue of timers. It moves only by `advanceTo`. Timers fire in order, each after all work that
 * the one before has started.
 */
export class WorldClock {
  #now: number;
  /** The earliest first; of one time in the order in which they were set. */
  readonly #timers: Timer[] = [];

  /** @param start Unix ms */
  constructor(start: number) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  /** The number of timers that wait. */
  get waiting(): number {
    return this.#timers.length;
  }

  /** Calls `fire` after `ms`, at a whole ms. Returns how to cancel it. */
  after(ms: number, fire: () => void): () => void {
    const timer: Timer = { at: Math.ceil(this.#now + Math.max(0, ms)), fire };
    const i = this.#timers.findLastIndex(({ at }) => at <= timer.at);
    this.#timers.splice(i + 1, 0, timer);
    return () => {
      const at = this.#timers.indexOf(timer);
      if (at >= 0) this.#timers.splice(at, 1);
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Lets time pass until `end` (Unix ms), or until `isOver` after some timer. */
  async advanceTo(end: number, isOver: () => boolean = () => false): Promise<void> {
    await settle();
    for (let next = this.#timers[0]; next && next.at <= end && !isOver(); next = this.#timers[0]) {
      this.#timers.shift();
      this.#now = Math.max(this.#now, next.at);
      next.fire();
      await settle();
    }
    if (!isOver()) this.#now = Math.max(this.#now, end);
  }
}

/**
 * The clock of one process. It can be wrong, and it can step. The process can be stopped for a while, in which nothing of
 * it runs. After its death nothing of it ever runs again.
 */
export class ProcessClock implements Clock {
  readonly #world: WorldClock;
  readonly #bornAt: number;
  #offsetMs: number;
  /** How long the monotonic clock has stood still. */
  #lostMs = 0;
  /** When its last pause ends or has ended, true time. */
  resumesAt = Number.NEGATIVE_INFINITY;
  #isSuspended = false;
  isDead = false;
  /** What happens in the process when it runs again, in order. */
  readonly #heldBack: (() => void)[] = [];

  readonly #napOf: (ms: number) => number;

  /**
   * @param offsetMs by how much its wall clock is ahead of true time
   * @param napOf how long a sleep of so many ms lasts
   */
  constructor(world: WorldClock, offsetMs = 0, napOf = (ms: number): number => ms) {
    this.#world = world;
    this.#napOf = napOf;
    this.#bornAt = world.now();
    this.#offsetMs = offsetMs;
  }

  get isPaused(): boolean {
    return this.#world.now() < this.resumesAt;
  }

  now(): number {
    return this.#world.now() + this.#offsetMs;
  }

  /** Unix ms, whatever its wall clock shows. */
  trueTime(): number {
    return this.#world.now();
  }

  monotonic(): number {
    return this.#world.now() - this.#bornAt - this.#lostMs;
  }

  /** Sets the wall clock, as NTP or an administrator does. */
  setOffset(ms: number): void {
    this.#offsetMs = ms;
  }

  /** Nothing runs for `ms`. With `isSuspended` the monotonic clock stops too, as on a sleeping computer. */
  pause(ms: number, isSuspended = false): void {
    // Within another pause: it runs for a moment in between.
    this.resume();
    this.resumesAt = this.#world.now() + ms;
    this.#isSuspended = isSuspended;
    if (isSuspended) this.#lostMs += ms;
    this.#world.after(ms, () => this.#wake());
  }

  /** Ends a pause. What was due meanwhile runs now. */
  resume(): void {
    const early = this.resumesAt - this.#world.now();
    if (early <= 0) return;
    if (this.#isSuspended) this.#lostMs -= early;
    this.resumesAt = this.#world.now();
    this.#wake();
  }

  die(): void {
    this.isDead = true;
  }

  /** Calls `work` in the process: now, or when it runs again, or never. */
  enter(work: () => void): void {
    if (this.isDead) return;
    if (this.isPaused) this.#heldBack.push(work);
    else work();
  }

  #wake(): void {
    if (this.isPaused) return;
    for (const work of this.#heldBack.splice(0)) this.#world.after(0, () => this.enter(work));
  }

  sleep(wanted: number, signal?: AbortSignal): Promise<void> {
    if (this.isDead) return never();
    const ms = this.#napOf(wanted);
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const dueAt = this.monotonic() + ms;
      const fire = (): void =>
        this.enter(() => {
          const early = dueAt - this.monotonic();
          if (early > 0) {
            cancel = this.#world.after(Math.ceil(early), fire);
            return;
          }
          signal?.removeEventListener('abort', abort);
          resolve();
        });
      // A timer of Node takes whole milliseconds.
      let cancel = this.#world.after(Math.ceil(ms), fire);
      const abort = (): void => {
        cancel();
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}

/** What a dead process waits for. A new one each time: a shared one would hold everything that ever waited for it. */
export function never(): Promise<never> {
  return new Promise(() => undefined);
}
