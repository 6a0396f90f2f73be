import {
  type AttesterSlashing,
  type Block,
  blocksAt,
  type ChainWorld,
  drawnBlock,
  epochOf,
} from '../../../src/sandbox/chain-world.ts';
import { between } from '../../../src/toolkit/lib/random.ts';

/** Named where the service does not know the proposer (api-facts 8.1). */
export const NOBODY = 2_147_483_647;
const PROPOSERS = 100;

/** The proposer of a slot, below `PROPOSERS`. A fork can have another one. */
function proposerOf(slot: number, fork: number): number {
  const draw = between(0, PROPOSERS - 1, slot, fork % 2 === 0 ? 0 : fork);
  return draw === 0 ? NOBODY : draw;
}

/** Target epochs of the two votes: a double vote, a surround vote, neither. */
const TARGETS = [
  [9, 9],
  [9, 8],
  [8, 9],
] as const;

/** Slashing `n` is one of three kinds, and slashes the validators `n` and `n + 1`. Others cast one of its votes. */
export function slashingOf(n: number): AttesterSlashing {
  const targets = TARGETS[n % 3] ?? TARGETS[0];
  const vote = (i: 0 | 1, others: readonly number[]) => ({
    slot: 330,
    index: 0,
    blockRoot: `0x${i}`,
    source: { epoch: 1 + i, root: '0x51' },
    target: { epoch: targets[i], root: '0x7a' },
    validators: [n, n + 1, ...others],
  });
  return [vote(0, [1_000_000 + n]), vote(1, [2_000_000 + n, 2_000_001 + n])];
}

/** A story that writes the blocks of a chain with forks: blocks are orphaned and replaced until they are final. */
export class Chain {
  readonly world: ChainWorld;
  readonly firstSlot: number;

  /** Begins with three epochs, the first of them final. */
  constructor(world: ChainWorld, epoch: number) {
    this.world = world;
    this.firstSlot = epoch * 32;
    Object.assign(world, { head: this.firstSlot - 1, finalized: epoch });
    world.isTied = (slot) => this.isTied(slot);
    for (let i = 0; i < 96; i += 1) this.add([]);
  }

  get headSlot(): number {
    return Number(this.world.head);
  }

  get latest(): number {
    return epochOf(this.headSlot);
  }

  get finalized(): number {
    return Number(this.world.finalized);
  }

  /** Adds a slot whose block has these slashings. */
  add(slashings: readonly AttesterSlashing[]): void {
    this.miss();
    this.#propose(this.headSlot, slashings);
  }

  /** Adds a missed slot. */
  miss(): void {
    const slot = this.headSlot + 1;
    this.world.blocks.set(slot, []);
    this.world.missed.set(slot, proposerOf(slot, 0));
    this.world.head = slot;
  }

  /** Replaces the last `depth` slots that are not final: each by a block, or by none where `blocks` has undefined. */
  reorganise(depth: number, blocks: readonly (readonly AttesterSlashing[] | undefined)[]): void {
    for (const slot of this.#open(depth)) {
      const orphaned = blocksAt(this.world, slot).map((block) => ({ ...block, isCanonical: false }));
      this.world.blocks.set(slot, orphaned);
      const slashings = blocks[(slot - this.firstSlot) % blocks.length];
      if (slashings) this.#propose(slot, slashings);
    }
  }

  finalize(epochs: number): void {
    this.world.finalized = Math.min(this.finalized + epochs, this.latest - 2);
  }

  /** Whether a slot is shown as tied, which a block up to the slot `last` decides. */
  protected isTied(slot: number, last = slot + 63 - (slot % 32)): boolean {
    const isLikely = (one: number): boolean => between(0, 1, this.world.seed, one, 8) === 0;
    const later = Array.from({ length: last - slot }, (_, i) => slot + 1 + i);
    return isLikely(slot) && later.some((one) => !isLikely(one) && this.#canonicalAt(one).length > 0);
  }

  /** The canonical blocks that a reorganisation of this depth would orphan. */
  protected replacedBy(depth: number): Block[] {
    return this.#open(depth).flatMap((slot) => this.#canonicalAt(slot));
  }

  #canonicalAt(slot: number): readonly Block[] {
    return slot > this.headSlot ? [] : blocksAt(this.world, slot).filter(({ isCanonical }) => isCanonical);
  }

  /** The last `depth` slots without those that are final. */
  #open(depth: number): number[] {
    const first = Math.max((this.finalized + 1) * 32, this.headSlot + 1 - depth);
    return Array.from({ length: this.headSlot + 1 - first }, (_, i) => first + i);
  }

  /** Puts a canonical block beside the orphaned ones of a slot. It counts what no block of today does. */
  #propose(slot: number, attesterSlashings: readonly AttesterSlashing[]): void {
    const { world } = this;
    const rivals = blocksAt(world, slot);
    const draw = (high: number, what: number): number => between(0, high, world.seed, slot, rivals.length, what);
    const block: Block = {
      ...drawnBlock(world, slot, rivals.length),
      proposer: proposerOf(slot, rivals.length),
      attesterSlashings,
      slashedProposers: [slot % 1_000, 1_000].slice(0, Math.max(0, draw(20, 1) - 18)),
      deposits: draw(3, 3),
      voluntaryExits: draw(2, 4),
      withdrawals: draw(16, 5),
    };
    world.blocks.set(slot, between(0, 1, world.seed, slot) === 0 ? [...rivals, block] : [block, ...rivals]);
  }
}
