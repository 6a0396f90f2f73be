import { CHAINS, type Chain as ChainName, epochAt, SECONDS_PER_SLOT } from '../../../src/facts/chain.ts';
import { unit } from '../../../src/toolkit/lib/random.ts';
import { LivelyChain } from '../../support/model/lively-chain.ts';

/** So many epochs are there before the start. */
const PAST_EPOCHS = 8;

/** Something that was ordered for the next slots. */
type Order =
  | { readonly kind: 'slash' }
  /** The block of the slashing is orphaned some slots later. */
  | { readonly kind: 'slash_and_orphan'; readonly slots: number }
  /** No other block includes the slashing. */
  | { readonly kind: 'slash_and_drop' }
  /** The blocks of this many slots are replaced. */
  | { readonly kind: 'reorganise'; readonly depth: number };

/** A chain that moves with the time: one slot every 12 s. What it becomes depends on its seed and on the orders. */
export class WorldChain extends LivelyChain {
  readonly name: ChainName;
  readonly #liveliness: number;
  /** The newest final epoch when the story began. */
  readonly finalizedAtStart: number;
  readonly #moodSeed: number;
  #isCalm = false;
  /** Finality stands still below this head epoch. */
  #stalledUntil = 0;
  readonly #orders: Order[] = [];
  readonly #takenAwayAt = new Map<number, number>();

  constructor(name: ChainName, { seed, liveliness }: { seed: number; liveliness: number }, start: number) {
    super(epochAt(name, start) - PAST_EPOCHS, seed);
    this.name = name;
    this.#moodSeed = seed;
    this.#liveliness = liveliness;
    this.moveTo(start);
    this.finalizedAtStart = this.finalized;
  }

  get headSlot(): number {
    return this.firstSlot + this.slots.length - 1;
  }

  /** Adds the slots up to this time, Unix ms. */
  moveTo(now: number): void {
    const head = Math.floor((now / 1_000 - CHAINS[this.name].genesis) / SECONDS_PER_SLOT);
    while (this.headSlot < head) this.step();
  }

  override step(): void {
    const taken = this.#takenAwayAt.get(this.headSlot + 1);
    if (taken !== undefined) this.takeAway(taken);
    const order = this.#orders.shift();
    if (order) this.#obey(order);
    else if (this.#isLively()) super.step();
    else this.#stepCalmly();
  }

  /** On a scarce budget the next epoch is not read. */
  protected override isTied(slot: number): boolean {
    return super.isTied(slot, slot + 31 - (slot % 32));
  }

  override finalize(epochs: number): void {
    if (this.latest >= this.#stalledUntil) super.finalize(epochs);
  }

  /** The slashings in each block of a slot, orphaned ones included, by block root. */
  included(slot: number): Map<string, readonly number[]> {
    const blocks = this.slots[slot - this.firstSlot] ?? [];
    return new Map(blocks.map(({ root, slashings }) => [root, slashings]));
  }

  /** Each of the next `count` blocks has a new slashing. */
  orderSlashings(count: number): void {
    for (let i = 0; i < count; i += 1) this.#orders.push({ kind: 'slash' });
  }

  /** A slashing whose block is orphaned after this many slots. 0: no other block includes the slashing. */
  orderOrphanedSlashing(slots: number): void {
    this.#orders.push(slots === 0 ? { kind: 'slash_and_drop' } : { kind: 'slash_and_orphan', slots });
  }

  /** Before the next slot the newest blocks that are not final are replaced. */
  orderReorganisation(depth: number): void {
    this.#orders.push({ kind: 'reorganise', depth });
  }

  /** Finality stands still until the head is this many epochs further. */
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
    return !this.#isCalm && unit(this.#moodSeed, this.latest, 4) < this.#liveliness;
  }

  #stepCalmly(): void {
    if (unit(this.#moodSeed, this.headSlot, 5) < 0.01) this.miss();
    else this.add([]);
    this.finalize(3);
  }

  #obey(order: Order): void {
    if (order.kind === 'reorganise') this.#replace(order.depth);
    else this.#slash(order);
    this.finalize(3);
  }

  #slash(order: Order): void {
    const { slot, slashing } = this.slash();
    if (order.kind === 'slash_and_orphan') this.#takenAwayAt.set(slot + order.slots, slot);
    if (order.kind === 'slash_and_drop') this.drop(slashing);
  }

  /** The new branch includes the slashings of the old one later, and has fewer blocks. */
  #replace(depth: number): void {
    const slashings = this.replacedBy(depth).flatMap((block) => block.slashings);
    const blocks = Array.from({ length: depth }, (_, i) => {
      if (slashings.length === 0 && i % 3 === 0) return undefined;
      return i % 3 === 0 ? slashings.splice(0, 2) : [];
    });
    this.reorganise(depth, blocks);
    this.add([]);
  }
}
