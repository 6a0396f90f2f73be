import { CHAINS, epochAt, SECONDS_PER_SLOT } from '../../../src/facts/chain.ts';
import type { AttesterSlashing, ChainWorld } from '../../../src/sandbox/chain-world.ts';
import { between, unit } from '../../../src/toolkit/lib/random.ts';
import { Chain, slashingOf } from './chain.ts';

/** So many epochs are there before the start. */
const PAST_EPOCHS = 8;
/** No reorganisation goes back further. */
const MAX_DEPTH = 16;

/** Something that was ordered for the next slots. */
type Order =
  /** The block of the slashing is orphaned some slots later. 0: no other block includes the slashing. */
  | { readonly kind: 'slash'; readonly orphanedAfter?: number }
  /** The blocks of this many slots are replaced. */
  | { readonly kind: 'reorganise'; readonly depth: number };

/**
 * A chain that moves with the time, one slot every 12 s: missed slots, reorganisations, stalls of finality. What it becomes
 * depends on its seed and on the orders. A slashing whose block is orphaned moves to another block or is lost.
 */
export class WorldChain extends Chain {
  readonly #liveliness: number;
  /** The newest final epoch when the story began. */
  readonly finalizedAtStart: number;
  #isCalm = false;
  /** Finality makes no progress below this head epoch. */
  #stalledUntil = 0;
  readonly #orders: Order[] = [];
  readonly #takenAwayAt = new Map<number, number>();
  #draws = 0;
  readonly #slashings: AttesterSlashing[] = [];
  /** Slashings whose block was orphaned, and that no other block includes yet. */
  #homeless: AttesterSlashing[] = [];
  /** Slashings that no block includes again. */
  readonly #dropped = new Set<AttesterSlashing>();

  constructor(world: ChainWorld, liveliness: number, start: number) {
    super(world, epochAt(world.chain, start) - PAST_EPOCHS);
    this.#liveliness = liveliness;
    this.moveTo(start);
    this.finalizedAtStart = this.finalized;
  }

  /** Adds the slots up to this time, Unix ms. */
  moveTo(now: number): void {
    const head = Math.floor((now / 1_000 - CHAINS[this.world.chain].genesis) / SECONDS_PER_SLOT);
    while (this.headSlot < head) this.#step();
  }

  #step(): void {
    // Orphans the block of this slot, unless it is too old.
    const taken = this.#takenAwayAt.get(this.headSlot + 1) ?? 0;
    const depth = this.headSlot + 1 - taken;
    if (depth <= MAX_DEPTH) this.#forkAway(depth);
    const order = this.#orders.shift();
    if (order) this.#obey(order);
    else if (this.#isLively()) this.#stepLively();
    else this.#stepCalmly();
  }

  /** On a scarce budget the next epoch is not read. */
  protected override isTied(slot: number): boolean {
    return super.isTied(slot, slot + 31 - (slot % 32));
  }

  override finalize(epochs: number): void {
    if (this.latest >= this.#stalledUntil) super.finalize(epochs);
  }

  /** Each of the next `count` blocks has a new slashing. */
  orderSlashings(count: number): void {
    for (let i = 0; i < count; i += 1) this.#orders.push({ kind: 'slash' });
  }

  /** A slashing whose block is orphaned after this many slots. 0: no other block includes the slashing. */
  orderOrphanedSlashing(slots: number): void {
    this.#orders.push({ kind: 'slash', orphanedAfter: slots });
  }

  /** Before the next slot the newest blocks that are not final are replaced. */
  orderReorganisation(depth: number): void {
    this.#orders.push({ kind: 'reorganise', depth });
  }

  /** Finality makes no progress until the head is this many epochs further. */
  stall(epochs: number): void {
    this.#stalledUntil = this.latest + epochs;
  }

  /** No reorganisation and no slashing any more, and finality follows the head. */
  calm(): void {
    this.#isCalm = true;
    this.#stalledUntil = 0;
    this.#orders.length = 0;
    this.#takenAwayAt.clear();
    this.finalize(1_000_000);
  }

  #isLively(): boolean {
    return !this.#isCalm && unit(this.world.seed, this.latest, 4) < this.#liveliness;
  }

  #stepLively(): void {
    if (this.#happens(0.06)) this.#forkAway(this.#between(1, 4));
    if (this.#happens(0.06)) this.miss();
    else this.add(this.#inclusions());
    // In one epoch of seven finality stalls.
    if (unit(this.world.seed, this.latest) > 1 / 7) this.finalize(3);
  }

  #stepCalmly(): void {
    if (unit(this.world.seed, this.headSlot, 5) < 0.01) this.miss();
    else this.add([]);
    this.finalize(3);
  }

  #obey(order: Order): void {
    if (order.kind === 'reorganise') this.#replace(order.depth);
    else this.#slash(order.orphanedAfter);
    this.finalize(3);
  }

  #slash(orphanedAfter: number | undefined): void {
    const slashing = this.#newSlashing();
    this.add([slashing]);
    if (orphanedAfter) this.#takenAwayAt.set(this.headSlot + orphanedAfter, this.headSlot);
    if (orphanedAfter !== 0) return;
    this.#dropped.add(slashing);
    this.reorganise(1, [undefined]);
  }

  /** The new branch includes the slashings of the old one later, and has fewer blocks. */
  #replace(depth: number): void {
    const slashings = this.replacedBy(depth).flatMap(({ attesterSlashings }) => attesterSlashings);
    const blocks = Array.from({ length: depth }, (_, i) => {
      if (slashings.length === 0 && i % 3 === 0) return undefined;
      return i % 3 === 0 ? slashings.splice(0, 2) : [];
    });
    this.reorganise(depth, blocks);
    this.add([]);
  }

  /** The slashings of a new block. */
  #inclusions(): AttesterSlashing[] {
    const included: AttesterSlashing[] = [];
    for (const n of this.#homeless) if (included.length < 2 && this.#happens(0.1)) included.push(n);
    this.#homeless = this.#homeless.filter((n) => !included.includes(n) && !this.#happens(0.2));
    if (this.#happens(0.12)) included.push(this.#newSlashing());
    if (included.length > 0 && this.#happens(0.3)) included.push(this.#newSlashing());
    // A proposer may include what another block already has.
    const known = this.#slashings;
    if (known.length > 0 && this.#happens(0.01))
      included.push(...known.slice(this.#between(0, known.length - 1)).slice(0, 1));
    return [...new Set(included)].filter((n) => !this.#dropped.has(n));
  }

  #newSlashing(): AttesterSlashing {
    const slashing = slashingOf(this.#slashings.length);
    this.#slashings.push(slashing);
    return slashing;
  }

  #forkAway(depth: number): void {
    const orphaned = this.replacedBy(depth).flatMap(({ attesterSlashings }) => attesterSlashings);
    this.#homeless = [...new Set([...this.#homeless, ...orphaned])];
    const blocks = Array.from({ length: depth }, () => (this.#happens(0.3) ? undefined : this.#inclusions()));
    this.reorganise(depth, blocks);
  }

  #happens(probability: number): boolean {
    this.#draws += 1;
    return unit(this.world.seed, this.#draws, 1) < probability;
  }

  #between(low: number, high: number): number {
    this.#draws += 1;
    return between(low, high, this.world.seed, this.#draws, 2);
  }
}
