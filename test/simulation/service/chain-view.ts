import { type AttesterSlashing, blocksAt, epochOf } from '../../../src/sandbox/chain-world.ts';
import { rowsOfSlot } from '../../../src/sandbox/v1.ts';
import { canonicalBlocks } from './chain-truth.ts';
import type { WorldChain } from './world-chain.ts';

/** An answer about the chain as it is sent. */
export interface ChainAnswer {
  readonly body: string;
  /** A process has the whole answer. */
  readonly onDelivered: () => void;
}

const NOTHING = '{"status":"OK","data":[]}';

/** How the service shows a chain, which can be late or go back. */
export class ChainView {
  readonly chain: WorldChain;
  /** The roots of the canonical blocks of each epoch, as the process has last read them. */
  readonly #canonicalRead = new Map<number, ReadonlySet<string>>();
  /** Slashings that a process has read in a block that it had read as canonical. */
  readonly slashingsRead = new Set<AttesterSlashing>();
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

  /** The path with the epoch that the service takes for its name. */
  named(path: string, now: number): string {
    const { finalized, latest } = this.chain;
    if (!path.includes('/epoch/latest/')) return path.replace('/epoch/finalized/', `/epoch/${finalized}/`);
    return path.replace('/latest/', `/${latest - this.#epochsBehind(now)}/`);
  }

  /** The answer of the service to a path without names, as it is sent now. */
  shown(path: string, body: string, now: number): ChainAnswer {
    const [, number, list] = /\/(\d+)\/(\w+)$/.exec(path) ?? [];
    if (list === 'slots') return this.#rows(Number(number), body, now);
    const slot = Number(number);
    const { fromSlot, until } = this.#hiddenDetails;
    const isHidden = slot >= fromSlot && now < until;
    const blocks = list === 'attesterslashings' && !isHidden ? blocksAt(this.chain.world, slot) : [];
    const onDelivered = (): void => {
      const known = blocks.filter(({ root }) => this.#canonicalRead.get(epochOf(slot))?.has(root));
      for (const one of known.flatMap(({ attesterSlashings }) => attesterSlashings)) this.slashingsRead.add(one);
    };
    return { body: isHidden ? NOTHING : body, onDelivered };
  }

  #epochsBehind(now: number): number {
    const behind = this.#behind;
    if (!behind || behind.times <= 0 || now >= behind.until) return 0;
    behind.times -= 1;
    return behind.epochs;
  }

  #rows(epoch: number, body: string, now: number): ChainAnswer {
    const { world, headSlot } = this.chain;
    const roots = new Set(canonicalBlocks(world, epoch).map(({ root }) => root));
    const onDelivered = (): void => void this.#canonicalRead.set(epoch, roots);
    const hidden = [...this.#hidden].flatMap(([slot, until]) => (now < until && slot <= headSlot ? [slot] : []));
    const inEpoch = hidden.filter((slot) => epochOf(slot) === epoch);
    if (inEpoch.length === 0) return { body, onDelivered };
    const rows: { slot: number }[] = JSON.parse(body).data;
    const scheduled = inEpoch.flatMap((slot) =>
      rowsOfSlot({ ...world, blocks: new Map([[slot, []]]), finalized: -1 }, slot, now),
    );
    const data = [...rows.filter(({ slot }) => !inEpoch.includes(slot)), ...scheduled];
    data.sort((a, b) => Number(a.slot) - Number(b.slot));
    return { body: JSON.stringify({ status: 'OK', data }), onDelivered };
  }
}
