import { type AttesterSlashing, blocksAt, epochOf, type Offence } from '../../../src/sandbox/chain-world.ts';
import { recordsOfSlot, rowsOfEpoch, rowsOfSlot } from '../../../src/sandbox/v1.ts';
import { canonicalBlocks } from './chain-truth.ts';
import type { WorldChain } from './world-chain.ts';

/** A list of the chain as the service sends it. */
export interface ChainAnswer {
  /** The JSON of the list. */
  readonly list: string;
  /** A process has the whole answer. */
  readonly onDelivered: () => void;
}

/** How the service shows a chain, which can be late or go back. */
export class ChainView {
  readonly chain: WorldChain;
  /** The roots of the canonical blocks of each epoch, as the process has last read them. */
  readonly #canonicalRead = new Map<number, ReadonlySet<string>>();
  /** Slashings that a process has read in a block that it had read as canonical. */
  readonly slashingsRead = new Set<AttesterSlashing>();
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

  epochOf(selector: string, now: number): number {
    if (selector === 'finalized') return this.chain.finalized;
    return selector === 'latest' ? this.chain.latest - this.#epochsBehind(now) : Number(selector);
  }

  /** undefined: the service refuses the request. */
  rows(epoch: number, now: number): ChainAnswer | undefined {
    const { latest, firstSlot, world } = this.chain;
    if (epoch > latest || epoch * 32 < firstSlot) return undefined;
    for (const [slot, until] of this.#hidden) if (now >= until) this.#hidden.delete(slot);
    const roots = new Set(canonicalBlocks(world, epoch).map(({ root }) => root));
    return { list: this.#listOf(epoch), onDelivered: () => this.#canonicalRead.set(epoch, roots) };
  }

  /** The slashing records of a slot. */
  records(offence: Offence, slot: number, now: number): ChainAnswer {
    const { fromSlot, until } = this.#hiddenDetails;
    if (slot >= fromSlot && now < until) return { list: '[]', onDelivered: () => undefined };
    const { world } = this.chain;
    const blocks = offence === 'attester' ? blocksAt(world, slot) : [];
    const onDelivered = (): void => {
      const known = blocks.filter(({ root }) => this.#canonicalRead.get(epochOf(slot))?.has(root));
      for (const one of known.flatMap(({ attesterSlashings }) => attesterSlashings)) this.slashingsRead.add(one);
    };
    return { list: JSON.stringify(recordsOfSlot(world, offence, slot, now)), onDelivered };
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
    const { world, headSlot, finalized } = this.chain;
    const hidden = [...this.#hidden.keys()].filter((slot) => epochOf(slot) === epoch && slot <= headSlot);
    const shown = rowsOfEpoch(world, epoch, 0).filter(({ slot }) => !hidden.includes(Number(slot)));
    const scheduled = hidden.flatMap((slot) =>
      rowsOfSlot({ ...world, blocks: new Map([[slot, []]]), finalized: -1 }, slot, 0),
    );
    const list = JSON.stringify([...shown, ...scheduled].sort((a, b) => Number(a['slot']) - Number(b['slot'])));
    if (epoch <= finalized && this.#hidden.size === 0) this.#lists.set(epoch, list);
    return list;
  }
}
