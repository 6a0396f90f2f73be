import type { FailureReason } from '../../../src/api/errors.ts';
import { slashingsSource } from '../../../src/sources/slashings/index.ts';
import type { SlashingsOptions } from '../../../src/sources/slashings/options.ts';
import type { Slashings } from '../../../src/sources/slashings/schema.ts';
import type { Source, SourceEvent, Timing } from '../../../src/sources/source.ts';
import type { Family } from '../../../src/toolkit/exposition/family.ts';
import { failed, fakeApi, pollOnce } from '../answers/fake-api.ts';
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
import { attempts, MINUTE, NOW, noSignal, timing } from '../time/timing.ts';
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

/** The slashings source on a scripted chain. Between polls it keeps only its state, as after a restart. */
export class Follower {
  readonly chain = new ScriptedChain();
  /** The events of all polls. */
  readonly events: SourceEvent[] = [];
  readonly source: Source<Slashings>;
  state: Slashings;
  now = NOW;
  /** The failure of the last poll. */
  failure: Error | undefined;
  /** The requests of the last poll: `latest`, `finalized`, an epoch, `slot/N`, `names/N`, or `members/N`. */
  asked: string[] = [];
  /** Aborts the next polls. */
  signal = noSignal();
  /** Why a request fails. undefined: it succeeds. */
  fault: (what: string) => FailureReason | undefined = () => undefined;

  constructor(options: Partial<SlashingsOptions> = {}) {
    this.source = slashingsSource(slashingsOptions(options));
    this.state = this.source.empty;
  }

  /** Polls `afterMs` later. Returns the requests. */
  async poll(afterMs = MINUTE, overrides: Partial<Timing> = {}): Promise<string[]> {
    this.now += afterMs;
    this.asked = [];
    const api = fakeApi((request) => {
      const what = askedFor(request.path);
      this.asked.push(what);
      const reason = this.fault(what);
      if (reason) throw failed(request, reason);
      return chainAnswer(this.chain, request);
    });
    const { value, failure, events } = await pollOnce(
      this.source,
      api,
      this.state,
      this.timing(overrides),
      this.signal,
    );
    this.state = value;
    this.failure = failure;
    this.events.push(...(events ?? []));
    return this.asked;
  }

  /** Starts the program again, or reloads it. */
  startAnew(afterMs = 0): void {
    this.now += afterMs;
    this.state = this.source.anew?.(this.state, this.now) ?? this.state;
  }

  /** The events of a type, without it. */
  found(type: SourceEvent['type']): object[] {
    return this.events.filter((event) => event.type === type).map(({ type: _, ...fields }) => fields);
  }

  /** The slots and validators of the slashings that were found. */
  get sightings(): { slot: number; validators: readonly number[] }[] {
    return this.events.flatMap((event) => (event.type === 'slashing' ? [event] : []));
  }

  /** When the next poll is due if the last one was at `now`. */
  due(overrides: Partial<Timing> = {}): number {
    const failuresInARow = this.failure === undefined ? 0 : 1;
    return this.source.due(this.state, attempts(this.now, { failuresInARow }), this.timing(overrides));
  }

  families(overrides: Partial<Timing> = {}): Family[] {
    return this.source.families(this.state, this.timing(overrides));
  }

  /** The value of one series. The name is without prefix. */
  value(name: string, labels: Record<string, string> = {}): number | undefined {
    return sampleValue(this.families(), `beaconchain_${name}`, labels);
  }

  timing(overrides: Partial<Timing> = {}): Timing {
    return timing({ now: this.now, ...overrides });
  }
}

/** The latest epoch of a chain that `following` follows. Everything up to two before it is final. */
export const E = 405_000;
export const F = E - 2;

/** A follower that has counted the first finalized epoch and has nothing to catch up with. */
export async function following(options: Partial<SlashingsOptions> = {}): Promise<Follower> {
  const follower = new Follower(options);
  follower.chain.grow(E, F);
  await follower.poll();
  return follower;
}
