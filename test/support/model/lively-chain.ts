import { between, unit } from '../../../src/toolkit/lib/random.ts';
import { Chain } from './chain.ts';

/** No reorganisation goes back further. */
const MAX_DEPTH = 16;

/**
 * A chain that moves by itself, by a seed: missed slots, reorganisations, stalls of finality. A slashing whose block is
 * orphaned moves to another block or is lost. With `keepsSlashings` none is lost.
 */
export class LivelyChain extends Chain {
  readonly #seed: number;
  readonly #keepsSlashings: boolean;
  #draws = 0;
  #slashings = 0;
  /** Slashings whose block was orphaned, and that no other block includes yet. */
  #homeless: number[] = [];
  /** Slashings that no block includes again. */
  readonly #dropped = new Set<number>();

  constructor(epoch: number, seed: number, { keepsSlashings = false } = {}) {
    super(epoch, seed);
    this.#seed = seed;
    this.#keepsSlashings = keepsSlashings;
  }

  /** Adds the next slot. */
  step(): void {
    if (this.#happens(0.06)) this.#forkAway(this.#between(1, 4));
    if (this.#happens(0.06)) this.miss();
    else this.add(this.#inclusions());
    // In one epoch of seven finality stalls.
    if (unit(this.#seed, this.latest) > 1 / 7) this.finalize(3);
  }

  /** Orphans the block of this slot, unless it is too old. */
  takeAway(slot: number): void {
    const depth = this.firstSlot + this.slots.length - slot;
    if (depth <= MAX_DEPTH) this.#forkAway(depth);
  }

  /** Adds a slot whose block has a new slashing. */
  slash(): { slot: number; slashing: number } {
    const slashing = this.#slashings++;
    this.add([slashing]);
    return { slot: this.firstSlot + this.slots.length - 1, slashing };
  }

  /** Orphans the newest block. No other block includes this slashing of it. */
  drop(slashing: number): void {
    this.#dropped.add(slashing);
    this.reorganise(1, [undefined]);
  }

  /** Makes everything final. Nothing happens after that. */
  end(): void {
    if (this.#keepsSlashings) this.add(this.#homeless);
    for (let i = 0; i < 96; i += 1) this.add([]);
    this.finalize(1_000_000);
  }

  /** The slashings of a new block. */
  #inclusions(): number[] {
    const included: number[] = [];
    for (const n of this.#homeless) if (included.length < 2 && this.#happens(0.1)) included.push(n);
    const isDropped = (): boolean => this.#happens(0.2) && !this.#keepsSlashings;
    this.#homeless = this.#homeless.filter((n) => !included.includes(n) && !isDropped());
    if (this.#happens(0.12)) included.push(this.#slashings++);
    if (included.length > 0 && this.#happens(0.3)) included.push(this.#slashings++);
    // A proposer may include what another block already has.
    if (this.#slashings > 0 && this.#happens(0.01)) included.push(this.#between(0, this.#slashings - 1));
    return [...new Set(included)].filter((n) => !this.#dropped.has(n));
  }

  #forkAway(depth: number): void {
    const orphaned = this.replacedBy(depth).flatMap(({ slashings }) => slashings);
    this.#homeless = [...new Set([...this.#homeless, ...orphaned])];
    const blocks = Array.from({ length: depth }, () => (this.#happens(0.3) ? undefined : this.#inclusions()));
    this.reorganise(depth, blocks);
  }

  #happens(probability: number): boolean {
    this.#draws += 1;
    return unit(this.#seed, this.#draws, 1) < probability;
  }

  #between(low: number, high: number): number {
    this.#draws += 1;
    return between(low, high, this.#seed, this.#draws, 2);
  }
}
