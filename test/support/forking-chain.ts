import { between } from '../../src/lib/random.ts';
import { type Fields, rootOf, row, slashing } from './slot-rows.ts';

interface Block {
  readonly root: string;
  readonly slashings: readonly number[];
  canonical: boolean;
}

/** Slashings by number: three kinds, each of two validators that its neighbours share. */
export function slashingNumber(n: number, slot: number, root: string): Fields {
  const votes =
    [
      [9, 9],
      [9, 8],
      [8, 9],
    ][n % 3] ?? [];
  return slashing(slot, [n, n + 1], {
    attestation1_source_epoch: 1,
    attestation2_source_epoch: 2,
    attestation1_target_epoch: votes[0],
    attestation2_target_epoch: votes[1],
    block_root: root,
  });
}

/** Named where the service does not know the proposer (api-facts 8.1). */
const NOBODY = 2_147_483_647;
const PROPOSERS = 100;

/** Who was to propose a block in this slot; forks often have other proposers. */
function proposerOf(slot: number, fork: number): number {
  const draw = between(0, PROPOSERS - 1, slot, fork % 2 === 0 ? 0 : fork);
  return draw === 0 ? NOBODY : draw;
}

/** What became of a slot for one of its proposers. */
export interface Duty {
  readonly slot: number;
  readonly proposer: number;
  readonly outcome: 'proposed' | 'missed' | 'orphaned';
}

/** A chain that forks: blocks are orphaned and replaced until they are final. */
export class ForkingChain {
  readonly firstSlot: number;
  finalized: number;
  /** The blocks of each slot from `firstSlot` on; none: missed. */
  readonly slots: Block[][] = [];

  /** Begins with three epochs, the first of them final. */
  constructor(epoch: number) {
    this.firstSlot = epoch * 32;
    this.finalized = epoch;
    for (let i = 0; i < 96; i += 1) this.add([]);
  }

  get latest(): number {
    return Math.floor((this.firstSlot + this.slots.length - 1) / 32);
  }

  add(slashings: readonly number[]): void {
    const slot = this.firstSlot + this.slots.length;
    this.slots.push([{ root: rootOf(slot), slashings, canonical: true }]);
  }

  miss(): void {
    this.slots.push([]);
  }

  /** Replaces the last `depth` slots as far as they are not final: new blocks, or none where `blocks` gives none. */
  reorganise(depth: number, blocks: readonly (readonly number[] | undefined)[]): void {
    const firstOpen = (this.finalized + 1) * 32 - this.firstSlot;
    for (let i = Math.max(firstOpen, this.slots.length - depth); i < this.slots.length; i += 1) {
      const rivals = this.slots[i] ?? [];
      for (const block of rivals) block.canonical = false;
      const slashings = blocks[i % blocks.length];
      const root = rootOf(this.firstSlot + i, rivals.length);
      if (slashings) rivals.push({ root, slashings, canonical: true });
    }
  }

  finalize(epochs: number): void {
    this.finalized = Math.min(this.finalized + epochs, this.latest - 2);
  }

  /** Rows of an epoch, newest fork first. */
  rows(epoch: number): Fields[] {
    return this.#slotsOf(epoch).flatMap(([slot, blocks]) => {
      if (blocks.length === 0) {
        return [row({ slot, proposer: proposerOf(slot, 0), status: epoch <= this.finalized ? '2' : '0' })];
      }
      const rows = blocks.map(({ root, canonical, slashings }, fork) => {
        const fields = { blockroot: root, attesterslashingscount: slashings.length, proposer: proposerOf(slot, fork) };
        return row({ slot, status: canonical ? '1' : '3', ...fields });
      });
      return rows.reverse();
    });
  }

  /** Records of a slot, those of orphaned blocks included. */
  records(slot: number): Fields[] {
    const blocks = this.slots[slot - this.firstSlot] ?? [];
    return blocks.flatMap(({ root, slashings }) => slashings.map((n) => slashingNumber(n, slot, root)));
  }

  /** Numbers of the slashings in the canonical block of a slot. */
  canonical(slot: number): readonly number[] {
    return this.slots[slot - this.firstSlot]?.find((block) => block.canonical)?.slashings ?? [];
  }

  /** Numbers of the slashings in the canonical blocks of an epoch. */
  canonicalOf(epoch: number): number[] {
    return this.#slotsOf(epoch).flatMap(([slot]) => this.canonical(slot));
  }

  /** What became of every slot of these epochs for each of its known proposers, in the end. */
  duties(first: number, last: number): Duty[] {
    const duties: Duty[] = [];
    for (let epoch = first; epoch <= last; epoch += 1) {
      for (const [slot, blocks] of this.#slotsOf(epoch)) {
        const winner = blocks.findIndex(({ canonical }) => canonical);
        const proposers = new Set(
          blocks.length === 0 ? [proposerOf(slot, 0)] : blocks.map((_, i) => proposerOf(slot, i)),
        );
        proposers.delete(NOBODY);
        for (const proposer of proposers) {
          const isWinner = winner !== -1 && proposerOf(slot, winner) === proposer;
          duties.push({ slot, proposer, outcome: isWinner ? 'proposed' : blocks.length === 0 ? 'missed' : 'orphaned' });
        }
      }
    }
    return duties;
  }

  /** The slots of these epochs by what they are in the end. */
  count(first: number, last: number): { proposed: number; missed: number; orphaned: number } {
    const blocks = this.slots.slice(first * 32 - this.firstSlot, (last + 1) * 32 - this.firstSlot);
    const proposed = blocks.filter((rivals) => rivals.some(({ canonical }) => canonical)).length;
    const missed = blocks.filter((rivals) => rivals.length === 0).length;
    return { proposed, missed, orphaned: blocks.length - proposed - missed };
  }

  #slotsOf(epoch: number): [number, Block[]][] {
    const start = epoch * 32 - this.firstSlot;
    return this.slots.slice(start, start + 32).map((blocks, i) => [epoch * 32 + i, blocks]);
  }
}
