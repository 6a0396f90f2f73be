import { between, hash32, seedOf, unit } from '../../src/toolkit/lib/random.ts';

/**
 * A sequence of random choices. It depends only on the seed and on its name, so that one part of the world does not
 * change the choices of another: if an event is taken out of a story, the rest stays nearly the same.
 */
export class Random {
  readonly #seed: number;
  #draws = 0;

  constructor(seed: number, name: string) {
    this.#seed = hash32(seed, seedOf(name));
  }

  /** Another sequence. */
  fork(name: string): Random {
    return new Random(this.#seed, name);
  }

  /** In [0, 1). */
  unit(): number {
    this.#draws += 1;
    return unit(this.#seed, this.#draws);
  }

  /** A whole number in [low, high]. */
  between(low: number, high: number): number {
    this.#draws += 1;
    return between(low, high, this.#seed, this.#draws);
  }

  /** As often small as large: between `low` and `high`, both above 0, evenly on a logarithmic scale. */
  scale(low: number, high: number): number {
    return Math.round(low * (high / low) ** this.unit());
  }

  happens(probability: number): boolean {
    return this.unit() < probability;
  }

  pick<T>(options: readonly [T, ...T[]]): T {
    return options[this.between(0, options.length - 1)] ?? options[0];
  }

  /** Each of them, with even chances of being in. */
  some<T>(all: readonly T[]): T[] {
    return all.filter(() => this.happens(0.5));
  }
}
