import { between, seedOf } from '../../../src/toolkit/lib/random.ts';
import { type ChainView, exchanged, type Fields, rootOf, row, slashing } from '../answers/slot-rows.ts';

/** Named where the service does not know the proposer (api-facts 8.1). */
const NOBODY = 2_147_483_647;
const PROPOSERS = 100;

/** The proposer of a slot, below `PROPOSERS`. A fork can have another one. */
function proposerOf(slot: number, fork: number): number {
  const draw = between(0, PROPOSERS - 1, slot, fork % 2 === 0 ? 0 : fork);
  return draw === 0 ? NOBODY : draw;
}

/** What became of a slot for one of its proposers. */
interface Duty {
  readonly slot: number;
  readonly proposer: number;
  readonly outcome: 'proposed' | 'missed' | 'orphaned';
}

interface Block {
  readonly root: string;
  /** The root of the block before it on its own branch. */
  readonly parent: string;
  /** Slashings by number. */
  readonly slashings: readonly number[];
  canonical: boolean;
}

/**
 * A chain with forks, independent of the sandbox: blocks are orphaned and replaced until they are final. It knows what
 * the exporter must count. Slashing `n` is of kind `n % 3` and names the validators `n` and `n + 1`.
 */
export class Chain implements ChainView {
  readonly firstSlot: number;
  finalized: number;
  /** The blocks of each slot from `firstSlot` on. A missed slot has none. */
  readonly slots: Block[][] = [];
  protected readonly seed: number;

  /** Begins with three epochs, the first of them final. `seed` determines what the blocks count. */
  constructor(epoch: number, seed = 0) {
    this.firstSlot = epoch * 32;
    this.finalized = epoch;
    this.seed = seed;
    for (let i = 0; i < 96; i += 1) this.add([]);
  }

  get latest(): number {
    return Math.floor((this.firstSlot + this.slots.length - 1) / 32);
  }

  /** Adds a slot whose block has these slashings. */
  add(slashings: readonly number[]): void {
    const slot = this.firstSlot + this.slots.length;
    this.slots.push([{ root: rootOf(slot), parent: this.#parentAt(slot), slashings, canonical: true }]);
  }

  /** Adds a missed slot. */
  miss(): void {
    this.slots.push([]);
  }

  /** Replaces the last `depth` slots that are not final: each by a block, or by none where `blocks` has undefined. */
  reorganise(depth: number, blocks: readonly (readonly number[] | undefined)[]): void {
    for (let i = this.#firstReplaced(depth); i < this.slots.length; i += 1) {
      const rivals = this.slots[i] ?? [];
      for (const block of rivals) block.canonical = false;
      const slashings = blocks[i % blocks.length];
      const slot = this.firstSlot + i;
      const root = rootOf(slot, rivals.length);
      if (slashings) rivals.push({ root, parent: this.#parentAt(slot), slashings, canonical: true });
    }
  }

  finalize(epochs: number): void {
    this.finalized = Math.min(this.finalized + epochs, this.latest - 2);
  }

  /** The rows of an epoch. */
  rows(epoch: number): Fields[] | undefined {
    const slots = this.#slotsOf(epoch);
    if (slots.length === 0) return undefined;
    return slots.flatMap((_, i) => this.slotRows(epoch * 32 + i));
  }

  /** The rows of one slot, the oldest or the newest fork first. */
  slotRows(slot: number): Fields[] {
    const blocks = this.slots[slot - this.firstSlot] ?? [];
    if (blocks.length === 0) {
      const isFinal = Math.floor(slot / 32) <= this.finalized;
      return [row({ slot, proposer: proposerOf(slot, 0), status: isFinal ? '2' : '0' })];
    }
    const rows = blocks.map((block, fork) =>
      row({ slot, proposer: proposerOf(slot, fork), ...this.#fieldsOf(block), status: this.#statusOf(slot, block) }),
    );
    return between(0, 1, this.seed, slot) === 0 ? rows : rows.reverse();
  }

  /** The slashing records of a slot, those of orphaned blocks included. */
  records(slot: number): Fields[] {
    const blocks = this.slots[slot - this.firstSlot] ?? [];
    return blocks.flatMap(({ root, slashings }) => slashings.map((n) => recordOf(n, slot, root)));
  }

  /** The records of proposers slashed in a slot, those of orphaned blocks included. */
  proposerRecords(slot: number): Fields[] {
    const rows = this.rows(Math.floor(slot / 32)) ?? [];
    return rows.filter((row) => row['slot'] === slot).flatMap(slashedProposers);
  }

  /** What became of the slots of these epochs for each of their known proposers, once all is final. */
  duties(first: number, last: number): Duty[] {
    const slots = this.slots.slice(first * 32 - this.firstSlot, (last + 1) * 32 - this.firstSlot);
    return slots.flatMap((blocks, i) => dutiesOf(first * 32 + i, blocks));
  }

  /** The slashings in the canonical block of a slot. */
  canonicalIn(slot: number): readonly number[] {
    return this.canonicalAt(slot)?.slashings ?? [];
  }

  /** The rows of the canonical blocks of an epoch. */
  canonicalRows(epoch: number): Fields[] {
    const isCanonical = ({ slot, blockroot }: Fields): boolean => this.canonicalAt(Number(slot))?.root === blockroot;
    return (this.rows(epoch) ?? []).filter(isCanonical);
  }

  #statusOf(slot: number, block: Block): '1' | '3' {
    const isRival = block === this.slots[slot - this.firstSlot]?.[0] && this.isTied(slot);
    return block.canonical || (isRival && this.canonicalAt(slot)) ? '1' : '3';
  }

  protected canonicalAt(slot: number): Block | undefined {
    return this.slots[slot - this.firstSlot]?.find(({ canonical }) => canonical);
  }

  /** The slashings of each canonical block of an epoch that has some, by block root. */
  canonical(epoch: number): Map<string, readonly number[]> {
    const blocks = this.#slotsOf(epoch).flat();
    const slashing = blocks.filter(({ canonical, slashings }) => canonical && slashings.length > 0);
    return new Map(slashing.map(({ root, slashings }) => [root, slashings]));
  }

  /** How many slots of these epochs are what. */
  count(first: number, last: number): { proposed: number; missed: number; orphaned: number } {
    const blocks = this.slots.slice(first * 32 - this.firstSlot, (last + 1) * 32 - this.firstSlot);
    const proposed = blocks.filter((rivals) => rivals.some(({ canonical }) => canonical)).length;
    const missed = blocks.filter((rivals) => rivals.length === 0).length;
    return { proposed, missed, orphaned: blocks.length - proposed - missed };
  }

  /**
   * Whether the first block of a slot says "1" next to the canonical one, because the service updates the status by slot
   * (api-facts 5.1). A block up to the slot `last` decides.
   */
  protected isTied(slot: number, last = slot + 63 - (slot % 32)): boolean {
    const isLikely = (one: number): boolean => between(0, 1, this.seed, one, 8) === 0;
    const later = Array.from({ length: last - slot }, (_, i) => slot + 1 + i);
    return isLikely(slot) && later.some((one) => this.canonicalAt(one) && !isLikely(one));
  }

  /** The canonical blocks that a reorganisation of this depth would orphan. */
  protected replacedBy(depth: number): Block[] {
    return this.slots
      .slice(this.#firstReplaced(depth))
      .flat()
      .filter(({ canonical }) => canonical);
  }

  /** The root of the newest canonical block before a slot. */
  #parentAt(slot: number): string {
    let before = slot - 1;
    while (before >= this.firstSlot && !this.canonicalAt(before)) before -= 1;
    return this.canonicalAt(before)?.root ?? rootOf(before);
  }

  #firstReplaced(depth: number): number {
    const firstOpen = (this.finalized + 1) * 32 - this.firstSlot;
    return Math.max(firstOpen, this.slots.length - depth);
  }

  #slotsOf(epoch: number): Block[][] {
    const start = epoch * 32 - this.firstSlot;
    return start < 0 ? [] : this.slots.slice(start, start + 32);
  }

  #fieldsOf({ root, parent, slashings }: Block): Fields {
    const seed = seedOf(root);
    const count = (high: number, what: number): number => between(0, high, this.seed, seed, what);
    return {
      blockroot: root,
      parentroot: parent,
      attesterslashingscount: slashings.length,
      proposerslashingscount: Math.max(0, count(20, 1) - 18),
      attestationscount: count(8, 2),
      depositscount: count(3, 3),
      voluntaryexitscount: count(2, 4),
      withdrawalcount: count(16, 5),
      exec_transactions_count: count(300, 6),
      exec_gas_used: count(30_000_000, 7),
    };
  }
}

function dutiesOf(slot: number, blocks: readonly Block[]): Duty[] {
  const proposers = new Set(blocks.length === 0 ? [proposerOf(slot, 0)] : blocks.map((_, i) => proposerOf(slot, i)));
  proposers.delete(NOBODY);
  const winner = blocks.findIndex(({ canonical }) => canonical);
  const failed = blocks.length === 0 ? 'missed' : 'orphaned';
  return [...proposers].map((proposer) => {
    const isWinner = winner !== -1 && proposerOf(slot, winner) === proposer;
    return { slot, proposer, outcome: isWinner ? 'proposed' : failed };
  });
}

/** A record for each proposer slashing that the row of a block announces. The validator depends on the block. */
export function slashedProposers({ slot, blockroot, proposerslashingscount }: Fields): Fields[] {
  return Array.from({ length: Number(proposerslashingscount) }, (_, i) => ({
    block_index: i,
    block_root: blockroot,
    block_slot: slot,
    proposerindex: 2 * (seedOf(String(blockroot)) % 500) + i,
  }));
}

/** The validators that both attestations of a slashing name. */
export function validatorsOf(n: number): number[] {
  return [n, n + 1];
}

/** Target epochs of the two attestations: a double vote, a surround vote, neither. */
const TARGETS = [
  [9, 9],
  [9, 8],
  [8, 9],
] as const;

/** A slashing in the block with this root. Each block has it in its own order and with its own signatures. */
function recordOf(n: number, slot: number, root: string): Fields {
  const [first, second] = TARGETS[n % 3] ?? TARGETS[0];
  const record = slashing(slot, validatorsOf(n), {
    attestation1_source_epoch: 1,
    attestation2_source_epoch: 2,
    attestation1_target_epoch: first,
    attestation2_target_epoch: second,
    attestation1_indices: [...validatorsOf(n), 1_000_000 + n],
    attestation2_indices: [...validatorsOf(n), 2_000_000 + n, 2_000_001 + n],
    attestation1_signature: `0x${seedOf(root).toString(16)}`,
    block_root: root,
  });
  if (seedOf(root) % 2 === 0) return record;
  const reversed = Object.entries(exchanged(record)).map(([name, value]) => {
    return [name, Array.isArray(value) ? value.toReversed() : value];
  });
  return Object.fromEntries(reversed);
}
