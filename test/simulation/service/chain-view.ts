import { type Fields, row } from '../../support/answers/slot-rows.ts';
import type { WorldChain } from './world-chain.ts';

/** A list of the chain as the service sends it, and what a reader learns from it. */
export interface ChainAnswer {
  /** The JSON of the list. */
  readonly list: string;
  /** The epoch that it is about, or the one of the slot. */
  readonly epoch: number;
  /** The slashings of each canonical block of the epoch that has some, by block root. */
  readonly canonical?: ReadonlyMap<string, readonly number[]>;
  /** The slashings in each block of the slot, by block root. */
  readonly sent?: ReadonlyMap<string, readonly number[]>;
}

/** How the service shows a chain, which can be late or go back. */
export class ChainView {
  readonly chain: WorldChain;
  /** The canonical slashings of each epoch, by block root, as the process has last read them. */
  readonly #canonicalRead = new Map<number, ReadonlyMap<string, readonly number[]>>();
  /** Slashings that a process has read in a block that it had read as canonical. */
  readonly slashingsRead = new Set<number>();
  /** The rendered lists of final epochs. */
  readonly #lists = new Map<number, string>();
  /** The view `latest` is this many epochs behind, for some answers or until a time. */
  #behind: { readonly epochs: number; times: number; readonly until: number } | undefined;
  /** Slots whose block is shown as scheduled, until a time. */
  readonly #hidden = new Map<number, number>();
  /** The details of slashings from this slot on are not listed until a time. */
  #hiddenDetails = { fromSlot: Number.POSITIVE_INFINITY, until: 0 };
  /** Epochs in which a block was shown as scheduled. */
  readonly late = new Set<number>();

  constructor(chain: WorldChain) {
    this.chain = chain;
  }

  /** The view `latest` goes back, which can be behind the finalized one. */
  lag(epochs: number, times: number, until: number): void {
    this.#behind = { epochs, times, until };
  }

  /** The next block is shown as scheduled until a time. */
  hideBlock(until: number): void {
    const slot = this.chain.headSlot + 1;
    this.#hidden.set(slot, until);
    this.late.add(Math.floor(slot / 32));
  }

  /** Until a time the details of slashings in the blocks that come are empty, although the rows announce them. */
  hideDetails(until: number): void {
    this.#hiddenDetails = { fromSlot: this.chain.headSlot + 1, until };
  }

  calm(): void {
    this.#hiddenDetails.fromSlot = Number.POSITIVE_INFINITY;
    this.#behind = undefined;
    this.#hidden.clear();
    this.chain.calm();
  }

  /** A process has the whole answer. */
  delivered({ epoch, canonical, sent }: ChainAnswer): void {
    if (canonical) this.#canonicalRead.set(epoch, canonical);
    for (const [root, slashings] of sent ?? []) {
      if (!this.#canonicalRead.get(epoch)?.has(root)) continue;
      for (const slashing of slashings) this.slashingsRead.add(slashing);
    }
  }

  epochOf(selector: string, now: number): number {
    if (selector === 'finalized') return this.chain.finalized;
    return selector === 'latest' ? this.chain.latest - this.#epochsBehind(now) : Number(selector);
  }

  /** undefined: the service refuses the request. */
  rows(epoch: number, now: number): ChainAnswer | undefined {
    const { chain } = this;
    if (epoch > chain.latest || epoch * 32 < chain.firstSlot) return undefined;
    for (const [slot, until] of this.#hidden) if (now >= until) this.#hidden.delete(slot);
    return { list: this.#listOf(epoch), epoch, canonical: chain.canonical(epoch) };
  }

  /** The slashing records of a slot. */
  records(slot: number, now: number): ChainAnswer {
    const { fromSlot, until } = this.#hiddenDetails;
    const epoch = Math.floor(slot / 32);
    if (slot >= fromSlot && now < until) return { list: '[]', epoch, sent: new Map() };
    return { list: JSON.stringify(this.chain.records(slot)), epoch, sent: this.chain.included(slot) };
  }

  #epochsBehind(now: number): number {
    const behind = this.#behind;
    if (!behind || behind.times <= 0 || now >= behind.until) return 0;
    behind.times -= 1;
    return behind.epochs;
  }

  #listOf(epoch: number): string {
    const known = this.#lists.get(epoch);
    if (known !== undefined && this.#hidden.size === 0) return known;
    const count = Math.min(32, this.chain.headSlot - epoch * 32 + 1);
    const rows = Array.from({ length: count }, (_, i) => this.#rowsOf(epoch * 32 + i));
    const list = JSON.stringify(rows.flat());
    if (epoch <= this.chain.finalized && this.#hidden.size === 0) this.#lists.set(epoch, list);
    return list;
  }

  #rowsOf(slot: number): Fields[] {
    const rows = this.chain.slotRows(slot);
    return this.#hidden.has(slot) ? [row({ slot, proposer: rows[0]?.['proposer'], status: '0' })] : rows;
  }
}
