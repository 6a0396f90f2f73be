import type { FailureReason } from '../../../src/api/errors.ts';
import { type Entry, emptyEntry, withoutRefusals } from '../../../src/scheduler/entry.ts';
import { type Inputs, NO_INPUTS, type SourceEvent } from '../../../src/sources/read.ts';
import type { EVENTS } from '../../../src/sources/slashings/events.ts';
import { slashingsSource } from '../../../src/sources/slashings/index.ts';
import type { SlashingsOptions } from '../../../src/sources/slashings/options.ts';
import type { Slashings } from '../../../src/sources/slashings/state.ts';
import type { Source } from '../../../src/sources/source.ts';
import type { Family } from '../../../src/toolkit/exposition/family.ts';
import { failed, fakeApi, type SentRequest } from '../answers/fake-api.ts';
import {
  askedFor,
  type ChainView,
  chainAnswer,
  epochRows,
  type Fields,
  rootOf,
  slashing,
} from '../answers/slot-rows.ts';
import { sampleValue } from '../exposition/samples.ts';
import { MINUTE, NOW, noSignal, timing } from '../time/timing.ts';
import { type RoundOptions, round, scheduleAt } from './round.ts';
import { slashingsOptions } from './slashings-options.ts';

/** A chain whose rows and records a test writes one by one, as answers for the fake API. */
class ScriptedChain implements ChainView {
  latest = 0;
  finalized = 0;
  readonly epochs = new Map<number, Fields[]>();
  /** Slashing records by slot. */
  readonly slashings = new Map<number, Fields[]>();
  /** Records of slashed proposers by slot. */
  readonly proposerSlashings = new Map<number, Fields[]>();
  /** The seats of sync committees by period, in order. */
  readonly committees = new Map<number, readonly unknown[]>();

  /** Adds proposed epochs from the finalized one up to `latest`, where none are set. */
  grow(latest: number, finalized: number): void {
    const first = this.finalized === 0 ? finalized : this.finalized;
    this.latest = latest;
    this.finalized = finalized;
    for (let epoch = first; epoch <= latest; epoch += 1) {
      if (!this.epochs.has(epoch)) this.epochs.set(epoch, epochRows(epoch));
    }
  }

  /** Grows by so many epochs, of which as many more are final. */
  advance(epochs = 1): void {
    this.grow(this.latest + epochs, this.finalized + epochs);
  }

  /** Puts a slashing into the block of a slot and counts it in the row. */
  slash(slot: number, validators: readonly number[], fields: Fields = {}): void {
    const records = [...this.records(slot), slashing(slot, validators, fields)];
    this.slashings.set(slot, records);
    this.change(slot, { attesterslashingscount: records.length });
  }

  /** Puts slashings of these proposers into the block of a slot and counts them in the row. */
  slashProposers(slot: number, validators: readonly number[]): void {
    const records = validators.map((proposerindex, block_index) => ({
      block_index,
      block_root: rootOf(slot),
      block_slot: slot,
      proposerindex,
      header1_slot: slot - 9,
      header2_slot: slot - 9,
    }));
    this.proposerSlashings.set(slot, records);
    this.change(slot, { proposerslashingscount: records.length });
  }

  /** Changes fields of the rows of a slot. */
  change(slot: number, fields: Fields): void {
    const epoch = Math.floor(slot / 32);
    const rows = this.rows(epoch) ?? [];
    this.epochs.set(
      epoch,
      rows.map((one) => (one['slot'] === slot ? { ...one, ...fields } : one)),
    );
  }

  rows(epoch: number): Fields[] | undefined {
    return this.epochs.get(epoch);
  }

  records(slot: number): Fields[] {
    return this.slashings.get(slot) ?? [];
  }

  proposerRecords(slot: number): Fields[] {
    return this.proposerSlashings.get(slot) ?? [];
  }

  /** The service answers with an empty list for a committee that it does not know (api-facts 4.1). */
  committee(period: number): unknown {
    const validators = this.committees.get(period);
    return validators ? { period, start_epoch: 256 * period, end_epoch: 256 * period + 255, validators } : [];
  }
}

const SIGHTINGS: readonly string[] = [
  'watched_slashed',
  'attester_slashing',
  'proposer_slashing',
] satisfies (keyof typeof EVENTS)[];

interface Sighting {
  readonly slot: number;
  readonly validators: readonly number[];
}

/** What the budget allows. The default allows everything. */
type Budget = Pick<RoundOptions, 'allowedPerDay'>;

/** The slashings source on a scripted chain. Between polls it keeps only its entry, as after a restart. */
export class Follower {
  readonly chain = new ScriptedChain();
  /** The events of all polls. */
  readonly events: SourceEvent[] = [];
  readonly source: Source<Slashings>;
  entry: Entry<Slashings>;
  now = NOW;
  /** The failure of the last poll. */
  failure: Error | undefined;
  /** The requests of the last poll. */
  requests: readonly SentRequest[] = [];
  /** What the other sources of the chain give. */
  inputs: Partial<Inputs> = {};
  /** Aborts the next polls. */
  signal = noSignal();
  /** Why a request fails. undefined: it succeeds. */
  fault: (what: string) => FailureReason | undefined = () => undefined;
  #tried = new Set<string>();
  #startedAt = NOW;

  constructor(options: Partial<SlashingsOptions> = {}) {
    this.source = slashingsSource(slashingsOptions(options));
    this.entry = emptyEntry(this.source);
  }

  get state(): Slashings {
    return this.entry.value;
  }

  /** The reads that are due `afterMs` later. Returns their requests: `latest`, `finalized`, an epoch, `slot/N`, `names/N`, or `members/N`. */
  async poll(afterMs = MINUTE, budget: Budget = {}): Promise<string[]> {
    this.now += afterMs;
    const api = fakeApi((request) => {
      const reason = this.fault(askedFor(request.path));
      if (reason) throw failed(request, reason);
      return chainAnswer(this.chain, request);
    });
    const { now, inputs, signal } = this;
    const options = { now, inputs, signal, tried: this.#tried, startedAt: this.#startedAt, ...budget };
    const { entry, failure, events, ran } = await round(this.source, api, this.entry, options);
    Object.assign(this, { entry, failure, requests: api.requests });
    for (const name of ran) this.#tried.add(name);
    this.events.push(...events);
    return api.requests.map(({ path }) => askedFor(path));
  }

  /** Starts the program again. */
  startAnew(afterMs = 0): void {
    this.reload(afterMs);
    this.#startedAt = this.now;
  }

  reload(afterMs = 0): void {
    this.now += afterMs;
    this.entry = withoutRefusals(this.source, this.entry);
    this.#tried.clear();
  }

  /** The events of a type, without it. */
  found(type: string): object[] {
    return this.events.filter((event) => event.type === type).map(({ type: _, ...fields }) => fields);
  }

  /** The slots and validators of the slashings that were found. */
  get sightings(): Sighting[] {
    return this.events.filter(({ type }) => SIGHTINGS.includes(type)) as unknown as Sighting[];
  }

  /** When the next read is due. */
  due({ allowedPerDay }: Budget = {}): number {
    const { reads } = scheduleAt(this.source, this.entry, this.now, allowedPerDay);
    return Math.min(...reads.map(({ nextAttemptAt }) => nextAttemptAt));
  }

  families(overrides: Parameters<typeof timing>[0] = {}): Family[] {
    return this.source.metrics(this.state, timing({ now: this.now, ...overrides }), NO_INPUTS);
  }

  /** The value of one series. The name is without prefix. */
  value(name: string, labels: Record<string, string> = {}): number | undefined {
    return sampleValue(this.families(), `beaconchain_${name}`, labels);
  }
}

/** The latest epoch of a chain that `following` follows. Everything up to two before it is final. */
export const E = 405_000;
export const F = E - 2;

/** A follower that has counted the first finalized epoch and has nothing to catch up with. */
export async function following(
  options: Partial<SlashingsOptions> = {},
  inputs: Partial<Inputs> = {},
): Promise<Follower> {
  const follower = new Follower(options);
  follower.inputs = inputs;
  follower.chain.grow(E, F);
  await follower.poll();
  return follower;
}
