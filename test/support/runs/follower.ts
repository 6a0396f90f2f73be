import type { FailureReason } from '../../../src/api/errors.ts';
import { type Block, blocksAt, epochOf, parentOf } from '../../../src/sandbox/chain-world.ts';
import { BLOCK_NUMBER_OFFSET } from '../../../src/sandbox/v1.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import { doubtingRefusals, type Entry, emptyEntry } from '../../../src/scheduler/entry.ts';
import { type Inputs, NO_INPUTS, type SourceEvent } from '../../../src/sources/read.ts';
import type { EVENTS } from '../../../src/sources/slashings/events.ts';
import { slashingsSource } from '../../../src/sources/slashings/index.ts';
import type { SlashingsOptions } from '../../../src/sources/slashings/options.ts';
import type { Slashings } from '../../../src/sources/slashings/state.ts';
import type { Source } from '../../../src/sources/source.ts';
import type { Family } from '../../../src/toolkit/exposition/family.ts';
import { failed, fakeApi, type SentRequest } from '../answers/fake-api.ts';
import { saidBy } from '../answers/known-request.ts';
import { askedFor, chainAnswer, doubleVote, type Fields, rootOf, usualBlock } from '../answers/slot-rows.ts';
import { sampleValue } from '../exposition/samples.ts';
import { MINUTE, NOW, noSignal, timing } from '../time/timing.ts';
import { type RoundOptions, round, scheduleAt } from './round.ts';
import { slashingsOptions } from './slashings-options.ts';

/** A story that a test writes on the chain of a sandbox. Every slot has its usual block, where the test puts no others. */
class Story {
  readonly sandbox = new Sandbox({ slotsPerSlashing: Number.POSITIVE_INFINITY });
  readonly world = this.sandbox.chains.mainnet;
  /** Lists in place of those of the sandbox, as faults of the service, by what is asked for: an epoch by its number. */
  readonly answers = new Map<string, readonly unknown[]>();
  /** Fields in place of those of the rows of a slot, as faults of the service. */
  readonly #changes = new Map<number, Fields>();
  /** What blocks paid in place of what the sandbox says, by slot. */
  readonly paid = new Map<number, object>();
  /** The seats of sync committees by period, in order. */
  readonly committees = new Map<number, readonly unknown[]>();

  get latest(): number {
    return epochOf(this.world.head ?? 0);
  }

  set latest(epoch) {
    this.world.head = epoch * 32 + 31;
  }

  get finalized(): number {
    return this.world.finalized ?? 0;
  }

  set finalized(epoch) {
    this.world.finalized = epoch;
  }

  /** Adds proposed epochs from the finalized one up to `latest`, where no blocks are put. */
  grow(latest: number, finalized: number): void {
    const first = this.world.finalized ?? finalized;
    Object.assign(this, { latest, finalized });
    for (let slot = first * 32; slot < (latest + 1) * 32; slot += 1)
      if (!this.world.blocks.has(slot)) this.put(slot, {});
  }

  /** Grows by so many epochs, of which as many more are final. */
  advance(epochs = 1): void {
    this.grow(this.latest + epochs, this.finalized + epochs);
  }

  /** Writes the blocks of a slot, each like the usual one but for these fields. Without any it is missed. */
  put(slot: number, ...blocks: readonly Partial<Block>[]): void {
    const parent = parentOf(this.world, slot);
    const usual = (fields: Partial<Block>, i: number): Block =>
      usualBlock(slot, { root: rootOf(slot, fields.isCanonical === false ? i + 1 : 0), parent, ...fields });
    this.world.blocks.set(slot, blocks.map(usual));
  }

  /** Writes that this validator misses the slot. */
  miss(slot: number, validator: number): void {
    this.put(slot);
    this.world.missed.set(slot, validator);
  }

  /** Puts a slashing into the block of a slot. */
  slash(slot: number, validators: readonly number[]): void {
    const [block] = blocksAt(this.world, slot);
    this.put(slot, { ...block, attesterSlashings: [...(block?.attesterSlashings ?? []), doubleVote(validators)] });
  }

  /** Puts slashings of these proposers into the block of a slot. */
  slashProposers(slot: number, slashedProposers: readonly number[]): void {
    this.put(slot, { ...blocksAt(this.world, slot)[0], slashedProposers });
  }

  /** Changes fields of the rows of a slot. */
  change(slot: number, fields: Fields): void {
    this.#changes.set(slot, { ...this.#changes.get(slot), ...fields });
  }

  /** The list that the service answers with. */
  answer(request: SentRequest): unknown {
    const asked = whatOf(request);
    const words: Readonly<Record<string, number>> = { latest: this.latest, finalized: this.finalized };
    const [kind, number] = asked.split('/');
    if (kind === 'members') return this.committee(Number(number));
    if (kind === 'block') return this.payment(Number(number), request);
    const spoilt = this.answers.get(`${words[asked] ?? asked}`);
    if (spoilt) return spoilt;
    return chainAnswer(this.sandbox, request).map((one) => ({ ...one, ...this.#changes.get(Number(one['slot'])) }));
  }

  /** What the block of a slot paid. */
  payment(slot: number, request: SentRequest): unknown {
    const said = saidBy(this.sandbox, { ...request, body: JSON.stringify(request.body) }, 0) as { data: object };
    return { ...said.data, ...this.paid.get(slot) };
  }

  /** The service answers with an empty list for a committee that it does not know (api-facts 4.1). */
  committee(period: number): unknown {
    const validators = this.committees.get(period);
    return validators ? { period, start_epoch: 256 * period, end_epoch: 256 * period + 255, validators } : [];
  }
}

/** What a request asks for: as `askedFor`, or `block/N` for what the block of slot N paid. */
function whatOf({ path, body }: SentRequest): string {
  const { block } = (body ?? {}) as { readonly block?: { readonly number: number } };
  return block ? `block/${block.number - BLOCK_NUMBER_OFFSET}` : askedFor(path);
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
type Budget = Pick<RoundOptions, 'allowedPerDay' | 'held'>;

/** The slashings source on the chain of a story. Between polls it keeps only its entry, as after a restart. */
export class Follower {
  readonly chain = new Story();
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
  #startedAt: number | undefined;
  #aliveAt: number | undefined;

  constructor(options: Partial<SlashingsOptions> = {}) {
    this.source = slashingsSource(slashingsOptions(options));
    this.entry = emptyEntry(this.source);
  }

  get state(): Slashings {
    return this.entry.value;
  }

  /** The reads that are due `afterMs` later. Returns their requests: `latest`, `finalized`, an epoch, `slot/N`, `names/N`, `members/N`, or `block/N`. */
  async poll(afterMs = MINUTE, budget: Budget = {}): Promise<string[]> {
    this.now += afterMs;
    this.#startedAt ??= this.now;
    const api = fakeApi((request) => {
      const reason = this.fault(whatOf(request));
      if (reason) throw failed(request, reason);
      return { status: 'OK', data: this.chain.answer(request) };
    });
    const { now, inputs, signal } = this;
    const options = {
      now,
      inputs,
      signal,
      tried: this.#tried,
      startedAt: this.#startedAt,
      aliveAt: this.#aliveAt,
      ...budget,
    };
    const { entry, failure, events, ran } = await round(this.source, api, this.entry, options);
    Object.assign(this, { entry, failure, requests: api.requests });
    for (const name of ran) this.#tried.add(name);
    this.events.push(...events);
    return api.requests.map(whatOf);
  }

  /** Stops the program, and starts it again. */
  startAnew(afterMs = 0): void {
    this.#aliveAt = this.now;
    this.reload(afterMs);
    this.#startedAt = this.now;
  }

  reload(afterMs = 0): void {
    this.now += afterMs;
    this.entry = doubtingRefusals(this.source, this.entry);
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
