import type { Random } from './random.ts';

/** True time: it passes for the server and for the network, even while a process is paused. */
export interface WorldTime {
  /** Unix ms. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

/** After this time the operating system gives up what it could not deliver. */
const GIVES_UP_MS = 100_000;

/**
 * The way between one process and Redis. Events set its faults. Like TCP it delivers in order what one connection sends,
 * and what is lost on a connection is followed by nothing else on it.
 */
export class RedisNetwork {
  /** One way, ms. */
  latencyMs: readonly [low: number, high: number] = [1, 20];
  /** How likely a request or an answer never arrives, nor anything after it on this connection. */
  losing = 0;
  /** How likely a request or an answer is held up, and for how long. */
  delaying = 0;
  delayMs: readonly [low: number, high: number] = [500, 20_000];
  /** How likely a connection is reset when a request or an answer is under way. */
  resetting = 0;
  readonly #world: WorldTime;
  readonly #random: Random;
  readonly #connections = new Set<() => void>();
  #healed: PromiseWithResolvers<void> | undefined;

  constructor(world: WorldTime, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  get isCut(): boolean {
    return this.#healed !== undefined;
  }

  get isFaulty(): boolean {
    return this.isCut || this.losing > 0 || this.delaying > 0 || this.resetting > 0;
  }

  /** Nothing passes from now on, and nobody is told. */
  cut(): void {
    this.#healed ??= Promise.withResolvers();
  }

  /** Some of what waited is delivered now, late. */
  heal(): void {
    this.#healed?.resolve();
    this.#healed = undefined;
  }

  /** Everything arrives again. */
  calm(): void {
    this.losing = 0;
    this.delaying = 0;
    this.resetting = 0;
    this.heal();
  }

  /** Resets all connections. */
  reset(): void {
    for (const reset of [...this.#connections]) reset();
  }

  /** Calls `reset` when the network resets the connection. Returns how to leave it. */
  carry(reset: () => void): () => void {
    this.#connections.add(reset);
    return () => this.#connections.delete(reset);
  }

  /** When something that leaves now arrives, unless the network is cut. */
  arrival(): number {
    const [low, high] = this.latencyMs;
    const [least, most] = this.delayMs;
    const isHeldUp = this.delaying > 0 && this.#random.happens(this.delaying);
    const delay = isHeldUp ? this.#random.scale(least, most) : 0;
    return this.#world.now() + this.#random.scale(low, high) + delay;
  }

  /** Resolves at that time, or when a cut is over, with what became of what is under way. */
  async pass(arrival: number): Promise<'arrived' | 'lost' | 'reset'> {
    await this.#world.sleep(arrival - this.#world.now());
    const random = this.#random;
    while (this.#healed) {
      await this.#healed.promise;
      if (this.#world.now() - arrival > GIVES_UP_MS || random.happens(0.5)) return 'lost';
    }
    if (this.losing > 0 && random.happens(this.losing)) return 'lost';
    if (this.resetting > 0 && random.happens(this.resetting)) return 'reset';
    return 'arrived';
  }
}
