import { between, seedOf, unit } from '../../src/lib/random.ts';
import { type Duty, ForkingChain, slashingNumber } from './forking-chain.ts';
import type { Fields } from './slot-rows.ts';

/** Longer than this no reorganisation goes back. */
const DEEPEST = 16;

/**
 * A forking chain that moves by itself, seeded: missed slots, reorganisations, finality that stalls now and then. Each
 * block counts other things, and slashings wander: into a block beside another, out of it by a reorganisation, into
 * another block (written differently), or nowhere; where it keeps slashings, never nowhere.
 */
export class LivelyChain {
  readonly #chain: ForkingChain;
  readonly #seed: number;
  readonly #keepsSlashings: boolean;
  #draws = 0;
  #slashings = 0;
  /** Slashings whose block was orphaned, and that wait for another one. */
  #homeless: number[] = [];
  /** Slashings that no block includes again. */
  readonly #dropped = new Set<number>();

  constructor(epoch: number, seed: number, { keepsSlashings = false } = {}) {
    this.#chain = new ForkingChain(epoch);
    this.#seed = seed;
    this.#keepsSlashings = keepsSlashings;
  }

  get latest(): number {
    return this.#chain.latest;
  }

  get finalized(): number {
    return this.#chain.finalized;
  }

  /** The next slot. */
  step(): void {
    if (this.#happens(0.06)) this.#reorganise(this.#between(1, 4));
    if (this.#happens(0.06)) this.#chain.miss();
    else this.#chain.add(this.#inclusions());
    // One time in seven finality stalls for the whole of this epoch.
    if (unit(this.#seed, this.latest) > 1 / 7) this.#chain.finalize(3);
  }

  /** A reorganisation takes away the block of this slot, unless it is too old. */
  takeAway(slot: number): void {
    const depth = this.#chain.firstSlot + this.#chain.slots.length - slot;
    if (depth <= DEEPEST) this.#reorganise(depth);
  }

  /** The next slot, whose block has a new slashing. */
  slash(): { slot: number; slashing: number } {
    const slashing = this.#slashings++;
    this.#chain.add([slashing]);
    return { slot: this.#chain.firstSlot + this.#chain.slots.length - 1, slashing };
  }

  /** A reorganisation takes away the newest block, and no other block includes this slashing of it. */
  drop(slashing: number): void {
    this.#dropped.add(slashing);
    this.#chain.reorganise(1, [undefined]);
  }

  /** Nothing more happens, and all of it becomes final. */
  end(): void {
    if (this.#keepsSlashings) this.#chain.add(this.#homeless);
    for (let i = 0; i < 96; i += 1) this.#chain.add([]);
    this.#chain.finalize(1_000_000);
  }

  /** Rows of an epoch as the service sends them. */
  rows(epoch: number): Fields[] {
    return this.#chain.rows(epoch).map((row) => {
      if (row['status'] !== '1' && row['status'] !== '3') return row;
      const root = seedOf(String(row['blockroot']));
      const count = (high: number, what: number): number => between(0, high, this.#seed, root, what);
      return {
        ...row,
        proposerslashingscount: Math.max(0, count(20, 1) - 18),
        attestationscount: count(8, 2),
        depositscount: count(3, 3),
        voluntaryexitscount: count(2, 4),
        withdrawalcount: count(16, 5),
        exec_transactions_count: count(300, 6),
        exec_gas_used: count(30_000_000, 7),
      };
    });
  }

  /** The numbers of the slashings in each canonical block of an epoch that has some, by block root. */
  canonical(epoch: number): Map<string, readonly number[]> {
    const blocks = this.#blocks(epoch).filter(({ canonical, slashings }) => canonical && slashings.length > 0);
    return new Map(blocks.map(({ root, slashings }) => [root, slashings]));
  }

  /** Slashing records of a slot, those of orphaned blocks included. */
  records(slot: number): Fields[] {
    const blocks = this.#chain.slots[slot - this.#chain.firstSlot] ?? [];
    return blocks.flatMap(({ root, slashings }) => slashings.map((n) => evidence(n, slot, root)));
  }

  /** Slashings of proposers in the blocks of a slot, those of orphaned blocks included (api-facts 8.1). */
  proposerRecords(slot: number): Fields[] {
    const own = this.rows(Math.floor(slot / 32)).filter((row) => row['slot'] === slot);
    return own.flatMap(slashedProposers);
  }

  duties(first: number, last: number): Duty[] {
    return this.#chain.duties(first, last);
  }

  /** Slots of these epochs by what they are in the end. */
  count(first: number, last: number): { proposed: number; missed: number; orphaned: number } {
    return this.#chain.count(first, last);
  }

  #blocks(epoch: number): ForkingChain['slots'][number] {
    const start = epoch * 32 - this.#chain.firstSlot;
    return this.#chain.slots.slice(start, start + 32).flat();
  }

  #inclusions(): number[] {
    const included: number[] = [];
    for (const n of this.#homeless) if (included.length < 2 && this.#happens(0.1)) included.push(n);
    const isDropped = (): boolean => this.#happens(0.2) && !this.#keepsSlashings;
    this.#homeless = this.#homeless.filter((n) => !included.includes(n) && !isDropped());
    if (this.#happens(0.12)) included.push(this.#slashings++);
    if (included.length > 0 && this.#happens(0.3)) included.push(this.#slashings++);
    // Nothing keeps a proposer from including what another block already has.
    if (this.#slashings > 0 && this.#happens(0.01)) included.push(this.#between(0, this.#slashings - 1));
    return [...new Set(included)].filter((n) => !this.#dropped.has(n));
  }

  #reorganise(depth: number): void {
    const { slots, firstSlot, finalized } = this.#chain;
    const firstOpen = (finalized + 1) * 32 - firstSlot;
    const gone = slots.slice(Math.max(firstOpen, slots.length - depth)).flat();
    for (const { canonical, slashings } of gone) if (canonical) this.#homeless.push(...slashings);
    this.#homeless = [...new Set(this.#homeless)];
    const blocks = Array.from({ length: depth }, () => (this.#happens(0.3) ? undefined : this.#inclusions()));
    this.#chain.reorganise(depth, blocks);
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

/** A record for each proposer slashing that the row of a block announces; the validator depends on the block. */
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

/** A slashing as the block with this root has it: the same content, but order and signatures are the proposer's. */
function evidence(n: number, slot: number, root: string): Fields {
  const record: Fields = {
    ...slashingNumber(n, slot, root),
    attestation1_indices: [n, n + 1, 1_000_000 + n],
    attestation2_indices: [n, n + 1, 2_000_000 + n, 2_000_001 + n],
    attestation1_signature: `0x${seedOf(root).toString(16)}`,
  };
  if (seedOf(root) % 2 === 0) return record;
  const swapped = Object.entries(record).map(([name, value]) => {
    const other = name.replace(/^attestation([12])/, (_, one) => `attestation${one === '1' ? 2 : 1}`);
    return [other, Array.isArray(value) ? value.toReversed() : value];
  });
  return Object.fromEntries(swapped);
}
