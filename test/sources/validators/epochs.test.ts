import { describe, expect, it } from 'vitest';
import type { WireRequest } from '../../../src/api/transport.ts';
import { epochEnd, MS_PER_EPOCH } from '../../../src/facts/chain.ts';
import { watchedGroups } from '../../../src/facts/groups.ts';
import { watchOf } from '../../../src/facts/watch.ts';
import { contentOf } from '../../../src/sandbox/answer.ts';
import { validatorAt } from '../../../src/sandbox/validator.ts';
import type { Validator } from '../../../src/sandbox/validators-world.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import { doubtingRefusals, type Entry, emptyEntry } from '../../../src/scheduler/entry.ts';
import { NO_INPUTS, type SourceEvent } from '../../../src/sources/read.ts';
import { validatorsSource } from '../../../src/sources/validators/index.ts';
import type { ValidatorsOptions } from '../../../src/sources/validators/options.ts';
import type { Validators } from '../../../src/sources/validators/state.ts';
import { apiOf, type Written } from '../../property/odd.ts';
import { validatorsOptions } from '../../support/answers/validators.ts';
import { samplesOf, sampleValue } from '../../support/exposition/samples.ts';
import { round, scheduleAt } from '../../support/runs/round.ts';
import { DAY, HOUR, MINUTE, SECOND, timing } from '../../support/time/timing.ts';

const FIRST = 444_375;
const SERVICE = { 'x-beaconchain-version': '1' };
const NOT_YET: Written = { status: 404, headers: SERVICE, body: '{"error":"not yet"}' };
const BROKEN: Written = { status: 500, body: '' };

interface Asked {
  readonly part: 'epoch_duties' | 'epoch_rewards';
  readonly epoch: number;
  readonly validators: readonly number[];
}

/** 25 validators, of which 12 are in a group. The service has every epoch two epochs after its end. */
class Owner {
  readonly sandbox = new Sandbox({ plan: { perSecond: 1e6 }, slotsPerSlashing: Number.POSITIVE_INFINITY });
  options: ValidatorsOptions;
  entry: Entry<Validators>;
  finalized = FIRST;
  now = epochEnd('mainnet', FIRST) + 2 * MS_PER_EPOCH;
  /** All requests, until a test clears them. */
  asked: Asked[] = [];
  readonly events: SourceEvent[] = [];
  failure: Error | undefined;
  /** The answer in place of the good one. 'away': none. */
  fault: (asked: Asked, good: Written) => Written | 'away' | undefined = () => undefined;
  allowedPerDay = Number.POSITIVE_INFINITY;
  secondsPerRequest = 0;
  #tried = new Set<string>();

  constructor(overrides: Partial<ValidatorsOptions> = {}) {
    const watch = watchOf([{ first: 1, last: 25 }]);
    const groups = watchedGroups(watch, [{ name: 'home', watch: watchOf([{ first: 1, last: 12 }]) }]);
    const parts = { status: false, rewards: false, syncCommittee: false, epochs: true };
    this.options = validatorsOptions({ watch, groups, ...parts, ...overrides });
    this.entry = emptyEntry(this.source);
  }

  get source() {
    return validatorsSource(this.options);
  }

  part(name: Asked['part'] = 'epoch_duties') {
    const ledger = this.entry.value[name];
    if (!ledger) throw new Error(`${name} has never run`);
    return ledger;
  }

  /** One round of the reads that are due. */
  async poll(afterMs = 0): Promise<Asked[]> {
    this.now += afterMs;
    const from = this.asked.length;
    const api = apiOf((request) => this.#answer(request), this.now);
    const finality = { at: epochEnd('mainnet', this.finalized), readAt: this.now };
    const { now, allowedPerDay, secondsPerRequest } = this;
    const slow = { ...api, now: () => now + (this.asked.length - from) * secondsPerRequest * 1_000 };
    const played = await round(this.source, slow, this.entry, {
      now,
      allowedPerDay,
      inputs: { finality },
      tried: this.#tried,
    });
    Object.assign(this, { entry: played.entry, failure: played.failure });
    for (const name of played.ran) this.#tried.add(name);
    this.events.push(...played.events);
    return this.asked.slice(from);
  }

  /** Polls whenever something is due, while an epoch becomes final every 384 s. */
  async live(epochs: number, isFinalizing = true): Promise<void> {
    for (let i = 0; i < epochs; i += 1) {
      const end = this.now + MS_PER_EPOCH;
      if (isFinalizing) this.finalized += 1;
      while (this.due() <= end) {
        this.now = Math.max(this.now, this.due());
        await this.poll();
      }
      this.now = end;
    }
  }

  due(): number {
    const { reads } = scheduleAt(this.source, this.entry, this.now, this.allowedPerDay);
    return Math.min(...reads.map(({ nextAttemptAt }) => nextAttemptAt));
  }

  restart(afterMs = 0): void {
    this.now += afterMs;
    this.finalized += Math.floor(afterMs / MS_PER_EPOCH);
    this.#tried = new Set();
    this.entry = doubtingRefusals(this.source, this.entry);
  }

  value(name: string, labels: Record<string, string> = {}, now = this.now): number | undefined {
    const families = this.source.metrics(this.entry.value, timing({ now }), NO_INPUTS);
    return sampleValue(families, `beaconchain_watched_${name}`, { chain: 'mainnet', ...labels });
  }

  #answer({ method, path, headers, body = '' }: WireRequest): Written | 'away' {
    this.sandbox.chains.mainnet.finalized = this.finalized;
    const good = contentOf(this.sandbox, { method, path, headers, body }, 'mainnet', this.now);
    const { epoch, validator } = JSON.parse(body);
    const part = path.includes('performance') ? 'epoch_duties' : 'epoch_rewards';
    const asked: Asked = { part, epoch, validators: validator.validator_identifiers };
    this.asked.push(asked);
    return this.fault(asked, { ...good, headers: SERVICE }) ?? { ...good, headers: SERVICE };
  }
}

/** Gives this answer to requests that contain this validator. */
function about(validator: number, answer: Written | 'away'): Owner['fault'] {
  return (asked) => (asked.validators.includes(validator) ? answer : undefined);
}

/** Gives rows with this finality. */
function saying(finality: string): Owner['fault'] {
  return (_, good) => ({ ...good, body: good.body.replaceAll('"finalized"', finality) });
}

/** The attestations of a group, or of all. */
function attestations({ source, entry, now }: Owner, group?: string): number {
  return samplesOf(source.metrics(entry.value, timing({ now }), NO_INPUTS), 'beaconchain_watched_attestations_total')
    .filter(({ labels }) => group === undefined || labels['group'] === group)
    .reduce((sum, { value }) => sum + value, 0);
}

describe('every epoch of watched validators', () => {
  it('takes one request for each epoch, part and ten validators of a group', async () => {
    const owner = new Owner();
    await owner.live(12);
    const counted = owner.part().counted ?? 0;
    const epochs = counted - FIRST;
    expect(epochs).toBeGreaterThanOrEqual(10);
    const chunks = [10, 2, 10, 3];
    for (const part of ['epoch_duties', 'epoch_rewards'] as const) {
      const asked = owner.asked.filter((one) => one.part === part && one.epoch === FIRST + 1);
      expect(asked.map(({ validators }) => validators.length)).toEqual(chunks);
    }
    expect(owner.asked).toHaveLength(2 * epochs * chunks.length);
    expect(attestations(owner)).toBe(25 * epochs);
    expect(attestations(owner, 'home')).toBe(12 * epochs);
  });

  it('starts with the epoch that is final at the first start, and looks rarely once finality is late', async () => {
    const owner = new Owner();
    const waits: number[] = [];
    for (let i = 0; i < 8; i += 1) {
      const { entry, failure } = await round(
        owner.source,
        apiOf(() => 'away', owner.now),
        owner.entry,
        owner,
      );
      expect([failure, entry.value.epoch_duties?.cursor]).toEqual([undefined, undefined]);
      owner.entry = entry;
      waits.push((owner.due() - owner.now) / SECOND);
      owner.now = owner.due();
    }
    expect(waits).toEqual([5, 5, 10, 20, 40, 60, 60, 60]);
    await owner.poll();
    expect(owner.part()).toMatchObject({ first: FIRST, cursor: FIRST, counted: FIRST, skipped: 0 });
  });

  it.each<[string, Owner['fault']]>([
    ['a 404', () => NOT_YET],
    ['a 400', () => ({ ...NOT_YET, status: 400 })],
    ['no rows', (_, good) => ({ ...good, body: JSON.stringify({ ...JSON.parse(good.body), data: [] }) })],
    ['rows that are not final', saying('"not_finalized"')],
    ['rows of an unknown finality', saying('"new"')],
    ['rows without finality', saying('null')],
  ])('is requested again each minute while the service does not have it, by %s', async (_, fault) => {
    const owner = new Owner();
    owner.fault = fault;
    for (let i = 0; i < 20; i += 1) {
      await owner.poll();
      expect([owner.failure, owner.part().cursor]).toEqual([undefined, FIRST - 1]);
      expect(owner.due()).toBe(owner.now + MINUTE);
      owner.now += MINUTE;
    }
    owner.fault = () => undefined;
    await owner.poll();
    expect(owner.part()).toMatchObject({ cursor: FIRST, unread: 0, skipped: 0 });
    expect(attestations(owner)).toBe(25);
  });

  it('becomes a failure if the service never has it', async () => {
    const owner = new Owner();
    owner.fault = () => ({ ...NOT_YET, status: 400 });
    await owner.live(12);
    expect(owner.failure).toMatchObject({ message: expect.stringContaining('status 400') });
    expect(owner.part()).toMatchObject({ cursor: FIRST, unread: 0 });
  });

  it.each([
    ['a server error', BROKEN],
    ['not yet', NOT_YET],
  ])(
    'counts without a chunk that alone fails with %s for an hour, and tries that chunk once an epoch',
    async (_, answer) => {
      const owner = new Owner();
      await owner.poll();
      owner.fault = about(13, answer);
      await owner.live(9);
      expect(owner.part()).toMatchObject({ counted: FIRST, unread: 0 });
      await owner.live(4);
      const unread = (owner.part().counted ?? 0) - FIRST;
      expect(unread).toBeGreaterThan(8);
      expect(owner.part().unread).toBe(10 * unread);
      expect(owner.value('unread_validator_epochs_total', { part: 'epoch_duties' })).toBe(10 * unread);
      expect(owner.events.filter(({ type }) => type === 'own_epoch_unread')).toMatchObject([
        { part: 'epoch_duties', epoch: FIRST + 1, count: 10 },
        { part: 'epoch_rewards', epoch: FIRST + 1, count: 10 },
      ]);
      owner.asked = [];
      await owner.live(3);
      const newest = owner.asked.filter(({ part, epoch }) => part === 'epoch_duties' && epoch === owner.part().counted);
      expect(new Set(newest.map(({ validators }) => validators[0]))).toEqual(new Set([1, 11, 13, 23]));
      const before = owner.part().unread;
      // In an outage its validators are treated like all others.
      owner.fault = () => BROKEN;
      await owner.live(12);
      expect(owner.part().unread).toBe(before);
      owner.fault = () => undefined;
      await owner.live(3);
      expect(owner.part()).toMatchObject({ unread: before, unreadable: [], counted: owner.finalized });
    },
  );

  it.each([
    ['no connection', 'away' as const],
    ['server errors', BROKEN],
    ['nothing new', NOT_YET],
    ['refusals of the key', { ...NOT_YET, status: 401 }],
  ])('is not given up in an outage of six hours, with %s', async (_, answer) => {
    const owner = new Owner();
    // One chunk of the next epoch was read before.
    await owner.poll();
    owner.finalized += 1;
    owner.fault = (asked) =>
      asked.validators[0] === 1 && asked.epoch === FIRST + 1 && owner.part().done.length === 0 ? undefined : answer;
    await owner.poll(MS_PER_EPOCH);
    owner.fault = () => answer;
    await owner.live(56);
    expect(owner.part()).toMatchObject({ counted: FIRST, unread: 0 });
    owner.fault = () => undefined;
    await owner.live(6);
    expect(owner.part()).toMatchObject({ unread: 0, skipped: 0, counted: owner.finalized });
    expect(attestations(owner)).toBe(25 * (owner.finalized - FIRST + 1));
  });

  it('is read back as far as catch_up after a stop, or else skipped, counted and reported', async () => {
    const owner = new Owner({ catchUpMs: DAY });
    await owner.poll();
    await owner.live(3);
    const before = owner.part().counted ?? 0;
    owner.restart(3 * DAY);
    await owner.live(40);
    const skipped = owner.part().skipped;
    expect(skipped).toBe(3 * 225 + 1 - 225 + (FIRST + 3 - before));
    expect(owner.part()).toMatchObject({ first: FIRST, counted: owner.finalized, unread: 0 });
    expect(attestations(owner)).toBe(25 * (owner.finalized - FIRST + 1 - skipped));
    expect(owner.events.filter(({ type }) => type === 'own_epochs_skipped')).toMatchObject([
      { part: 'epoch_duties', epochs: skipped },
      { part: 'epoch_rewards', epochs: skipped },
    ]);
    // A later outage with a short restart is no stop.
    owner.fault = () => 'away';
    await owner.live(300);
    owner.restart(MINUTE);
    owner.fault = () => undefined;
    await owner.live(40);
    expect(owner.part()).toMatchObject({ skipped, unread: 0, counted: owner.finalized });
  });

  it('counts a negative missed reward as 0, because it is an estimate', async () => {
    const owner = new Owner();
    owner.fault = ({ part }, { body, ...good }) => {
      const { data, ...rest } = JSON.parse(body);
      const rows = data.map((row: object) => ({ ...row, sync_committee: { missed_reward: '-5000000000' } }));
      return part === 'epoch_rewards' ? { ...good, body: JSON.stringify({ ...rest, data: rows }) } : undefined;
    };
    await owner.poll();
    expect(owner.value('missed_rewards_ether_total', { duty: 'sync_committee', group: 'home' })).toBe(0);
  });

  it('counts even if finality was lost for longer than catch_up', async () => {
    const owner = new Owner({ catchUpMs: 20 * MS_PER_EPOCH });
    await owner.poll();
    await owner.live(60, false);
    owner.finalized += 60;
    await owner.live(60);
    expect(owner.part()).toMatchObject({ skipped: 0, unread: 0, counted: owner.finalized });
    expect(attestations(owner)).toBe(25 * (owner.finalized - FIRST + 1));
  });

  it('does not count while the budget leaves it out, nor as skipped', async () => {
    const owner = new Owner();
    await owner.poll();
    owner.entry = { ...owner.entry, leftOut: ['epoch_duties', 'epoch_rewards'] };
    owner.finalized += 3_000;
    await owner.poll(14 * DAY);
    expect(owner.part()).toMatchObject({ counted: FIRST + 3_000, skipped: 0 });
    expect(attestations(owner)).toBe(2 * 25);
    // The reads stay on.
    expect(owner.entry.leftOut).toEqual([]);
    await owner.live(5);
    expect(attestations(owner)).toBe(25 * (owner.finalized - FIRST - 3_000 + 2));
  });

  it.each([1, 2])('never counts twice after a short pause, with %i requests before', async (of) => {
    const owner = new Owner();
    owner.fault = () => (owner.asked.filter(({ part }) => part === 'epoch_duties').length > of ? BROKEN : undefined);
    await owner.poll();
    owner.fault = () => undefined;
    owner.entry = { ...owner.entry, leftOut: ['epoch_duties', 'epoch_rewards'] };
    await owner.poll(HOUR);
    expect(attestations(owner)).toBe(25);
  });

  it('comes later, but is not skipped, if the budget stretches its read', async () => {
    const owner = new Owner();
    // Four chunks 225 times a day for the duties; the rewards get half of that.
    owner.allowedPerDay = 1_350;
    await owner.live(40);
    expect(owner.part()).toMatchObject({ skipped: 0, counted: owner.finalized });
    const rewards = owner.part('epoch_rewards');
    expect((rewards.counted ?? 0) - FIRST).toBeGreaterThan(17);
    expect((rewards.counted ?? 0) - FIRST).toBeLessThan(23);
    expect(rewards).toMatchObject({ skipped: 0, unread: 0 });
  });

  it('is not requested each minute by a stretched read', async () => {
    const owner = new Owner();
    owner.allowedPerDay = 10;
    owner.fault = () => NOT_YET;
    await owner.live(225);
    expect(owner.asked.length).toBeLessThan(20);
    expect(owner.part()).toMatchObject({ unread: 0, skipped: 0 });
  });

  it('is awaited by a stretched read without a request, each minute', async () => {
    const owner = new Owner();
    owner.allowedPerDay = 700;
    await owner.poll();
    owner.now = owner.due();
    expect(await owner.poll()).toEqual([]);
    expect(owner.due() - owner.now).toBe(MINUTE);
  });

  it('is left to the next run after a minute, so that the status does not wait', async () => {
    const owner = new Owner();
    owner.secondsPerRequest = 20;
    owner.finalized += 20;
    owner.restart();
    await owner.poll();
    owner.finalized += 20;
    for (let requests = owner.asked.length; owner.part().counted !== owner.finalized; requests = owner.asked.length) {
      await owner.poll(MINUTE);
      expect(owner.asked.length - requests).toBeLessThanOrEqual(4);
      expect(owner.due()).toBeLessThanOrEqual(owner.now);
    }
    expect(attestations(owner)).toBe(25 * 21);
  });

  it('waits even if the service answers only for validators without duties', async () => {
    const owner = new Owner({ status: true });
    const world = owner.sandbox.chains.mainnet;
    for (let index = 1; index <= 12; index += 1) {
      const drawn = validatorAt(world, index, FIRST) as Validator;
      world.validators.push({ ...drawn, life: { ...drawn.life, exit: FIRST - 99, withdrawable: FIRST + 900 } });
    }
    await owner.poll();
    owner.fault = ({ epoch }) => (epoch > FIRST ? NOT_YET : undefined);
    await owner.live(30);
    expect(owner.part()).toMatchObject({ counted: FIRST, unread: 0 });
    owner.fault = () => undefined;
    await owner.live(3);
    expect(owner.part()).toMatchObject({ counted: owner.finalized, unread: 0 });
  });

  it('needs every row of a chunk whose pages do not end properly', async () => {
    const owner = new Owner();
    const repeated = (rows: number): Owner['fault'] => {
      let page = NOT_YET;
      return (_, good) => {
        if (good.status !== 200) return page;
        const answer = JSON.parse(good.body);
        Object.assign(answer, { data: answer.data.slice(0, rows), paging: { next_cursor: 'x' } });
        page = { ...good, body: JSON.stringify(answer) };
        return page;
      };
    };
    owner.fault = repeated(5);
    await owner.poll();
    expect(owner.failure).toMatchObject({ message: expect.stringContaining('rows may be missing') });
    // The chunks of two and three were read in whole.
    expect(attestations(owner)).toBe(2 + 3);
    owner.fault = repeated(10);
    await owner.poll(HOUR);
    expect(owner.part()).toMatchObject({ counted: FIRST, unread: 0 });
    expect(attestations(owner)).toBe(25);
  });

  it('sets the interval of a stretched read, however many runs it takes', async () => {
    const owner = new Owner();
    owner.allowedPerDay = 700;
    owner.secondsPerRequest = 25;
    await owner.poll();
    const began = owner.now;
    expect(owner.part().again).toBe('now');
    await owner.poll(5 * MINUTE);
    expect(owner.part()).toMatchObject({ counted: FIRST, done: [] });
    owner.finalized += 1;
    const { reads } = scheduleAt(owner.source, owner.entry, owner.now, owner.allowedPerDay);
    const [duties] = reads.filter(({ read }) => read.name === 'epoch_duties');
    expect(duties?.nextAttemptAt).toBeCloseTo(began + MS_PER_EPOCH * (900 / 700), -1);
  });

  it.each([
    ['an unreadable row', '"index":"x",'],
    ['a second row of another validator', '"index":4,'],
  ])('counts %s as unread, and keeps its neighbours', async (_, instead) => {
    const owner = new Owner();
    owner.fault = (asked, good) =>
      asked.validators.includes(3) ? { ...good, body: good.body.replace('"index":3,', instead) } : undefined;
    await owner.poll();
    expect(owner.part()).toMatchObject({ counted: FIRST, unread: 1 });
    expect(attestations(owner)).toBe(24);
  });

  it('counts no validator that has left as unread, if a row repeats another', async () => {
    const owner = new Owner({ status: true });
    const world = owner.sandbox.chains.mainnet;
    const { life, ...drawn } = validatorAt(world, 7, FIRST) as Validator;
    world.validators.push({ ...drawn, life: { ...life, exit: FIRST - 9, withdrawable: FIRST + 247 } });
    owner.fault = ({ validators }, good) => {
      const [first] = JSON.parse(good.body).data;
      return validators.includes(7)
        ? { ...good, body: good.body.replace('"data":[', `"data":[${JSON.stringify(first)},`) }
        : undefined;
    };
    await owner.poll();
    expect(owner.part()).toMatchObject({ counted: FIRST, unread: 0 });
    expect(attestations(owner)).toBe(24);
  });

  it('shows recent misses by name until the newest epoch is two hours old', async () => {
    const owner = new Owner();
    const { silences } = owner.sandbox.chains.mainnet;
    silences.push({ validator: 7, from: owner.now - DAY, until: owner.now + 4 * MS_PER_EPOCH });
    await owner.live(8);
    const recent = (now?: number) =>
      owner.value('validator_recent_missed_attestations', { validator: '7', group: 'home' }, now);
    expect(recent()).toBe(6);
    expect(owner.value('validator_missed_attestations_total', { validator: '7', group: 'home' })).toBe(6);
    expect(owner.value('validator_recent_missed_attestations', { validator: '8', group: 'home' })).toBeUndefined();
    const end = epochEnd('mainnet', owner.part().counted ?? 0);
    expect(recent(end + 2 * HOUR)).toBe(6);
    expect(recent(end + 2 * HOUR + 1)).toBeUndefined();
  });

  it('shows no recent misses of a slashed validator, because its owner had to stop it', async () => {
    const owner = new Owner({ status: true });
    const { silences, slashed } = owner.sandbox.chains.mainnet;
    silences.push({ validator: 7, from: owner.now - DAY, until: Number.POSITIVE_INFINITY });
    slashed.attester.set(FIRST * 32, [7]);
    await owner.live(8);
    expect(owner.value('validator_missed_attestations_total', { validator: '7', group: 'home' })).toBeGreaterThan(2);
    expect(owner.value('validator_recent_missed_attestations', { validator: '7', group: 'home' })).toBeUndefined();
  });

  it('ends recent misses if there is a gap', async () => {
    const owner = new Owner();
    owner.sandbox.chains.mainnet.silences.push({ validator: 7, from: 0, until: owner.now });
    await owner.live(3);
    owner.entry = { ...owner.entry, leftOut: ['epoch_duties'] };
    owner.finalized += 225;
    await owner.poll(DAY);
    const of = { validator: '7', group: 'home' };
    expect(owner.value('validator_missed_attestations_total', of)).toBeGreaterThan(1);
    expect(owner.value('validator_recent_missed_attestations', of)).toBeUndefined();
  });

  it('has series of all validators if few are watched, otherwise of those that missed last', async () => {
    const owner = new Owner({ series: 24 });
    owner.sandbox.chains.mainnet.silences.push({ validator: 7, from: 0, until: Number.POSITIVE_INFINITY });
    await owner.poll();
    const named = (name: string, validator: string, group?: string) =>
      owner.value(`validator_${name}_total`, { validator, ...(group && { group }) });
    expect([named('missed_attestations', '7', 'home'), named('missed_attestations', '13')]).toEqual([1, undefined]);
    expect(named('rewards_ether', '13')).toBeUndefined();
    owner.options = { ...owner.options, series: 25 };
    expect([named('missed_attestations', '7', 'home'), named('missed_attestations', '13')]).toEqual([1, 0]);
    expect(named('rewards_ether', '13')).toBeGreaterThan(0);
  });
});
