import { between, unit } from '../../../src/lib/random.ts';
import { row } from '../../support/slot-rows.ts';
import type { Random } from '../random.ts';
import type { WorldChain } from './world-chain.ts';

export const ROW_FAULTS = ['missing', 'twice', 'shuffled', 'two proposed'] as const;
/** `two proposed`: an orphaned block is shown as proposed beside the canonical one (api-facts 5.1). */
export type RowFault = (typeof ROW_FAULTS)[number];

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

/** How the service shows a chain: with the faults of its views and of its rows. */
export class ChainView {
  readonly chain: WorldChain;
  readonly #random: Random;
  readonly #odd: { rows: number; slashings: number };
  /** The canonical slashings of each epoch, by block root, as the process has last read them. */
  readonly #canonicalRead = new Map<number, ReadonlyMap<string, readonly number[]>>();
  /** Slashings that a process has read in a block that it had read as canonical. */
  readonly slashingsRead = new Set<number>();
  /** The rendered lists of final epochs. */
  readonly #lists = new Map<number, string>();
  #fault: { readonly how: RowFault; readonly until: number } | undefined;
  /** The view `latest` is this many epochs behind, for some answers or until a time. */
  #behind: { readonly epochs: number; times: number; readonly until: number } | undefined;
  /** Slots that are shown as scheduled, until a time. */
  readonly #scheduled = new Map<number, number>();
  /** Those of them that are shown so even if they have a block. */
  readonly #hidden = new Set<number>();
  /** The details of slashings from this slot on are not listed until a time. */
  #hiddenDetails = { fromSlot: Number.POSITIVE_INFINITY, until: 0 };
  /** Epochs that were answered without some of their rows. */
  readonly incomplete = new Set<number>();
  /** Epochs in which a block was shown as scheduled. */
  readonly late = new Set<number>();

  constructor(chain: WorldChain, odd: { rows: number; slashings: number }, random: Random) {
    this.chain = chain;
    this.#odd = { ...odd };
    this.#random = random;
  }

  spoilRows(how: RowFault, until: number): void {
    this.#fault = { how, until };
  }

  /** The view `latest` goes back, which can be behind the finalized one. */
  lag(epochs: number, times: number, until: number): void {
    this.#behind = { epochs, times, until };
  }

  /** A missed slot stays "0" after its epoch is final. */
  keepScheduled(until: number): void {
    this.#scheduled.set(this.chain.orderMiss(), until);
  }

  /** The next block is shown as scheduled until a time. */
  hideBlock(until: number): void {
    const slot = this.chain.headSlot + 1;
    this.#scheduled.set(slot, until);
    this.#hidden.add(slot);
    this.late.add(Math.floor(slot / 32));
  }

  /** Until a time the details of slashings in the blocks that come are empty, although the rows announce them. */
  hideDetails(until: number): void {
    this.#hiddenDetails = { fromSlot: this.chain.headSlot + 1, until };
  }

  calm(): void {
    this.#hiddenDetails.fromSlot = Number.POSITIVE_INFINITY;
    this.#fault = undefined;
    this.#behind = undefined;
    this.#scheduled.clear();
    Object.assign(this.#odd, { rows: 0, slashings: 0 });
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
    for (const [slot, until] of this.#scheduled) if (now >= until) this.#scheduled.delete(slot);
    const fault = this.#fault && now < this.#fault.until ? this.#fault.how : undefined;
    const isOdd = this.#odd.rows > 0 && this.#random.happens(8 * this.#odd.rows);
    const slots = this.#slotsOf(epoch);
    const about = { epoch, canonical: chain.canonical(epoch) };
    if (!fault && !isOdd && this.#scheduled.size === 0) return { list: this.#listOf(epoch), ...about };
    let rows = slots.map((slot) => this.#shown(slot));
    if (fault === 'missing') this.incomplete.add(epoch);
    if (fault === 'two proposed') rows = rows.map(bothProposed);
    if (fault === 'missing') rows = rows.filter((_, i) => unit(chain.firstSlot, epoch, i, 7) > 0.1);
    if (fault === 'twice') rows = rows.flatMap((row, i) => (i % 5 === 2 ? [row, row] : [row]));
    if (fault === 'shuffled') rows = [...rows.splice(between(0, 31, epoch)), ...rows.reverse()];
    if (isOdd) rows.splice(this.#random.between(0, rows.length), 0, this.#oddRow(epoch, rows));
    return { list: `[${rows.join(',')}]`, ...about };
  }

  /** The slashing records of a slot. */
  records(slot: number, now: number): ChainAnswer {
    const { fromSlot, until } = this.#hiddenDetails;
    if (slot >= fromSlot && now < until) return { list: '[]', epoch: Math.floor(slot / 32), sent: new Map() };
    const records = this.chain.records(slot).map((record) => JSON.stringify(record));
    if (this.#odd.slashings > 0 && this.#random.happens(this.#odd.slashings)) {
      const odd = this.#random.pick([
        'null',
        '{"block_root":null}',
        '"text"',
        records[0] ?? '[]',
        ...records.map(unreadable),
      ]);
      records.splice(this.#random.between(0, records.length), 0, odd);
    }
    return { list: `[${records.join(',')}]`, epoch: Math.floor(slot / 32), sent: this.chain.included(slot) };
  }

  #epochsBehind(now: number): number {
    const behind = this.#behind;
    if (!behind || behind.times <= 0 || now >= behind.until) return 0;
    behind.times -= 1;
    return behind.epochs;
  }

  #slotsOf(epoch: number): number[] {
    const count = Math.min(32, this.chain.headSlot - epoch * 32 + 1);
    return Array.from({ length: count }, (_, i) => epoch * 32 + i);
  }

  #listOf(epoch: number): string {
    const known = this.#lists.get(epoch);
    if (known !== undefined) return known;
    const slots = this.#slotsOf(epoch);
    const list = `[${slots.map((slot) => this.#textOf(slot)).join(',')}]`;
    if (epoch <= this.chain.finalized) this.#lists.set(epoch, list);
    return list;
  }

  #textOf(slot: number): string {
    const rows = this.chain.slotRows(slot).map((row) => JSON.stringify(row));
    return rows.join(',');
  }

  #shown(slot: number): string {
    const text = this.#textOf(slot);
    if (!this.#scheduled.has(slot)) return text;
    if (text.includes('"status":"2"')) return text.replace('"status":"2"', '"status":"0"');
    // A reorganisation can give a missed slot a block.
    if (!this.#hidden.has(slot)) return text;
    const { proposer } = JSON.parse(`[${text}]`)[0];
    return JSON.stringify(row({ slot, proposer, status: '0' }));
  }

  /** Something among the rows that must not matter. */
  #oddRow(epoch: number, rows: readonly string[]): string {
    const slot = epoch * 32 + this.#random.between(0, 31);
    const far = epoch + 1_000_000;
    return this.#random.pick([
      'null',
      '"row"',
      '{}',
      '[[]]',
      `{"slot":${slot},"epoch":${epoch},"status":"7","proposer":1}`,
      `{"slot":"${slot}","epoch":"${epoch}","status":"1","proposer":1}`,
      `{"slot":${far * 32},"epoch":${far},"status":"1","proposer":1,"blockroot":"0x17"}`,
      `{"slot":${slot},"epoch":${epoch},"status":"1","proposer":1,"blockroot":null}`,
      this.#random.pick([rows[0] ?? 'null', ...rows]),
    ]);
  }
}

/** The rows of a slot, where an orphaned block is proposed too if there is a canonical one. */
function bothProposed(text: string): string {
  return text.includes('"status":"1"') ? text.replaceAll('"status":"3"', '"status":"1"') : text;
}

/** The same record without a validator list. */
function unreadable(record: string): string {
  return record.replace(/"attestation1_indices":\[[^\]]*\]/, '"attestation1_indices":null');
}
