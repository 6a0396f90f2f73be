import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Api } from '../../../src/api/client.ts';
import type { WireRequest } from '../../../src/api/transport.ts';
import { fetchAll } from '../../../src/backfill/fetch.ts';
import { makePlan, type Plan } from '../../../src/backfill/plan.ts';
import { Store } from '../../../src/backfill/store.ts';
import { writeAll } from '../../../src/backfill/write.ts';
import { epochEnd, epochTime, MS_PER_EPOCH } from '../../../src/facts/chain.ts';
import { watchedGroups } from '../../../src/facts/groups.ts';
import { watchOf } from '../../../src/facts/watch.ts';
import { contentOf } from '../../../src/sandbox/answer.ts';
import { dutiesIn } from '../../../src/sandbox/epoch-duties.ts';
import { validatorAt } from '../../../src/sandbox/validator.ts';
import type { Validator } from '../../../src/sandbox/validators-world.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import type { History } from '../../../src/sources/history.ts';
import { validatorsSource } from '../../../src/sources/validators/index.ts';
import type { ValidatorsOptions } from '../../../src/sources/validators/options.ts';
import { NO_VALIDATORS, type Validators } from '../../../src/sources/validators/state.ts';
import { systemClock } from '../../../src/toolkit/lib/clock.ts';
import { apiOf, type Written } from '../../property/odd.ts';
import { dutiesOf, rewardsOf } from '../../simulation/service/epoch-truth.ts';
import { validatorsOptions } from '../../support/answers/validators.ts';
import { parseExposition } from '../../support/exposition/exposition-parser.ts';
import { temporaryFolder } from '../../support/files/files.ts';
import { noSignal } from '../../support/time/timing.ts';

const FIRST = 444_375;
const LAST = FIRST + 11;
const SERVICE = { 'x-beaconchain-version': '1' };
const NOT_FOUND: Written = { status: 404, headers: SERVICE, body: '{"error":"not found"}' };
const NOW = epochEnd('mainnet', LAST) + 20 * MS_PER_EPOCH;
/** The start, which is exclusive, is the end of the epoch before. */
const RANGE = { start: epochTime('mainnet', FIRST), end: epochEnd('mainnet', LAST) / 1000 };
const HOME = [1, 12] as const;
/** The first validator of no group has left, and another joins in the range. */
const LEFT = 13;
const JOINS = 24;
const OF_KEY = 25;
const NO_KEYS = { keys: [], anywhere: new Set<string>(), isFirst: true, groups: [] };

type Fault = (path: string, body: { epoch?: number }, asked: number) => Written | 'away' | undefined;

/** 25 validators, of which 12 are in a group and one is watched by its key. The service has their epochs. */
class Past {
  readonly sandbox = new Sandbox({ seed: 'past', plan: { perSecond: 1e6 }, slotsPerSlashing: 200 });
  readonly requests: { path: string; epoch?: number; validators: number }[] = [];
  readonly output = join(temporaryFolder(), 'past.om');
  options: ValidatorsOptions;
  value: Validators = NO_VALIDATORS;
  finalized = LAST + 18;
  fault: Fault = () => undefined;

  constructor(overrides: Partial<ValidatorsOptions> = {}) {
    const world = this.sandbox.chains.mainnet;
    const drawn = (index: number): Validator => validatorAt(world, index, FIRST) as Validator;
    const living = (index: number, life: Partial<Validator['life']>): Validator => {
      return { ...drawn(index), life: { ...drawn(index).life, ...life } };
    };
    world.validators.push(living(LEFT, { exit: FIRST - 600, withdrawable: FIRST - 344 }));
    world.validators.push(living(JOINS, { activation: FIRST + 4 }));
    for (const [validator, epoch] of [
      [2, 3],
      [2, 7],
      [14, 5],
    ] as const) {
      const from = epochTime('mainnet', FIRST + epoch) * 1000;
      world.silences.push({ validator, from, until: from + MS_PER_EPOCH });
    }
    world.missed.set((FIRST + 2) * 32 + 5, 3);
    const watch = watchOf([{ first: 1, last: JOINS }]);
    const home = { name: 'home', watch: watchOf([{ first: HOME[0], last: HOME[1] }]) };
    const keys = [drawn(OF_KEY).publicKey];
    this.options = validatorsOptions({
      watch,
      groups: watchedGroups(watch, [home], keys),
      keys: { keys, anywhere: new Set(), groups: [{ ...home, keys: [] }] },
      ...overrides,
    });
  }

  get api(): Api {
    return apiOf((request) => this.#answer(request), NOW);
  }

  async history(): Promise<History> {
    const history = validatorsSource(this.options).more?.history?.(this.value) as History;
    await history.prepare?.(this.api, noSignal());
    return history;
  }

  /** One run of the program. @throws if the run is interrupted */
  async live(store: Store, range = RANGE) {
    const histories = new Map([['validators-mainnet', await this.history()]]);
    const waits: string[] = [];
    const clock = { now: () => NOW, monotonic: () => NOW, sleep: async () => undefined };
    const onWait = (reason: string): number => waits.push(reason);
    const reading = { api: this.api, clock, signal: noSignal(), onWait, histories };
    const ranges = new Map([['validators-mainnet', range]]);
    const planned = { ranges, fullResolution: false, flags: {}, now: NOW / 1000, end: range.end };
    const earlier = store.plan();
    const plan: Plan = earlier ?? (await makePlan({ ...reading, ...planned }));
    if (!earlier) store.save(plan);
    const asked = this.requests.length;
    let pages = 0;
    await fetchAll({ ...reading, store, onPage: () => (pages += 1) }, plan);
    const series = { labels: {}, chain: undefined, step: undefined, end: plan.end };
    const writing = { store, output: this.output, histories, isDaily: false, series, clock: systemClock };
    const { files } = await writeAll({ ...writing, signal: noSignal() }, plan);
    const samples = files.flatMap((file) =>
      parseExposition(readFileSync(file, 'utf8').replace('# EOF\n', '')).flatMap((one) => one.samples),
    );
    return { plan, samples, waits, pages, requests: this.requests.slice(asked), flaws: store.flaws() };
  }

  async whole(range = RANGE) {
    using store = await Store.open(`${this.output}.backfill`);
    return await this.live(store, range);
  }

  #answer({ method, path, headers, body = '{}' }: WireRequest): Written | 'away' {
    this.sandbox.chains.mainnet.finalized = this.finalized;
    const good = contentOf(this.sandbox, { method, path, headers, body }, 'mainnet', NOW);
    const { epoch, validator } = JSON.parse(body);
    if (path.endsWith('-list')) {
      this.requests.push({ path, epoch, validators: validator.validator_identifiers.length });
      // The service has no rows of validators without duties.
      if (good.status === 200 && JSON.parse(good.body).data.length === 0) return NOT_FOUND;
    }
    return this.fault(path, { epoch }, this.requests.length) ?? { ...good, headers: SERVICE };
  }
}

type Samples = Awaited<ReturnType<Past['live']>>['samples'];

function valuesOf(samples: Samples, name: string, labels: Record<string, string>): Map<number, number> {
  const wanted = JSON.stringify(Object.entries({ chain: 'mainnet', ...labels }).sort());
  const own = samples.filter(
    (one) => one.name === `beaconchain_watched_${name}` && JSON.stringify(Object.entries(one.labels).sort()) === wanted,
  );
  return new Map(own.map(({ timestamp = -1, value }) => [timestamp, value]));
}

/** The true counters at the end of each epoch, by name and labels. The exporter shares no code with this. */
function truthOf({ sandbox }: Past, first = FIRST, last = LAST): Map<string, Map<number, bigint>> {
  const world = sandbox.chains.mainnet;
  const sums = new Map<string, bigint>();
  const truth = new Map<string, Map<number, bigint>>();
  const indices = Array.from({ length: OF_KEY }, (_, i) => i + 1);
  for (let epoch = first - 1; epoch <= last; epoch += 1) {
    for (const index of indices) {
      const validator = validatorAt(world, index, epoch) as Validator;
      const [duties] = dutiesIn(world, [validator], epoch);
      const group = index <= HOME[1] ? { group: 'home' } : {};
      const add = (name: string, labels: Record<string, string>, amount: bigint): void => {
        const key = `${name} ${JSON.stringify({ ...labels, ...group })}`;
        sums.set(key, (sums.get(key) ?? 0n) + (epoch < first ? 0n : amount));
      };
      if (!duties || (duties.assigned === 0 && index !== JOINS)) continue;
      const rewards = rewardsOf(duties, 32n * 10n ** 18n);
      for (const [counter, amount] of Object.entries({ ...dutiesOf(duties), ...rewards })) {
        const [, name = '', label = '', value = ''] = /(\w+) (\w+)="(\w+)"/.exec(counter) ?? [];
        add(name, { [label]: value }, amount);
      }
      const sumOf = (name: string): bigint =>
        Object.entries(rewards).reduce((sum, [counter, amount]) => (counter.startsWith(name) ? sum + amount : sum), 0n);
      const own = { validator: String(index) };
      add('validator_missed_attestations_total', own, BigInt(duties.assigned - duties.included));
      add('validator_rewards_ether_total', own, sumOf('rewards'));
      add('validator_penalties_ether_total', own, sumOf('penalties'));
    }
    const at = epoch < first ? epochTime('mainnet', first) + 0.5 : epochEnd('mainnet', epoch) / 1000;
    for (const [key, sum] of sums) truth.set(key, (truth.get(key) ?? new Map()).set(at, sum));
  }
  return truth;
}

/** @param truth Of a sum of wei the nearest number of ether, by another way than the exporter's */
function expectTruth(samples: Samples, truth: Map<string, Map<number, bigint>>): void {
  for (const [key, sums] of truth) {
    const [name = '', labels = ''] = key.split(/ (.*)/s);
    const unit = name.includes('_ether_') ? 'e-18' : '';
    const wanted = [...sums].map(([at, sum]) => [at, Number(`${sum}${unit}`)]);
    expect([...valuesOf(samples, name, JSON.parse(labels))], key).toEqual(wanted);
  }
}

describe('the past of watched validators', () => {
  it('is counted to the wei at the end of every epoch, from 0 at its start, by group and by validator', async () => {
    const past = new Past();
    const { samples } = await past.whole();
    const truth = truthOf(past);
    expect(truth.size).toBeGreaterThan(90);
    // These are small enough that one wei more changes the number of ether.
    const ether = [...truth].filter(([name]) => name.includes('attestation') && name.includes('_ether_'));
    for (const [name, sums] of ether)
      expect(
        [...sums.values()].every((sum) => sum < 2n ** 53n),
        name,
      ).toBe(true);
    expectTruth(samples, truth);
    expect([...valuesOf(samples, 'counted_epoch', { part: 'epoch_duties' }).values()]).toEqual(
      Array.from({ length: 12 }, (_, i) => FIRST + i),
    );
  });

  it('has the rewards of a member of a sync committee after its exit', async () => {
    const past = new Past({ watch: watchOf([{ first: LEFT, last: LEFT }]), groups: [], keys: NO_KEYS });
    const { validators, proposers } = past.sandbox.chains.mainnet;
    Object.assign(validators[0]?.life ?? {}, { exit: FIRST + 4, withdrawable: FIRST + 260 });
    Object.assign(proposers, { validators: [LEFT], slots: 1e9 });
    const { samples } = await past.whole();
    const earned = [...valuesOf(samples, 'rewards_ether_total', { duty: 'sync_committee' }).values()];
    expect(earned.filter((sum, i) => sum > (earned[i - 1] ?? 0))).toHaveLength(12);
    expect([...valuesOf(samples, 'attestations_total', { status: 'included' }).values()].at(-1)).toBe(4);
  });

  it('takes the announced requests, and none for validators that are not active', async () => {
    const past = new Past();
    const { plan, requests, pages } = await past.whole();
    // The validator that has left is not requested.
    expect(requests.slice(0, 8).map(({ validators }) => validators)).toEqual([10, 2, 10, 2, 10, 2, 10, 2]);
    expect(plan.slices[0]?.expected).toBe(12 * 8);
    expect([pages, requests.length]).toEqual([plan.slices[0]?.expected, plan.slices[0]?.expected]);

    const young = new Past({ watch: watchOf([{ first: JOINS, last: JOINS }]), groups: [], keys: NO_KEYS });
    const { requests: few } = await young.whole();
    expect(Math.min(...few.map(({ epoch = 0 }) => epoch))).toBe(FIRST + 4);
    expect(few).toHaveLength(2 * 8);
  });

  it('is the same after a stop in the middle, and requests nothing twice', async () => {
    const clean = await new Past().whole();
    const past = new Past();
    using store = await Store.open(`${past.output}.backfill`);
    past.fault = (path, _, asked) =>
      path.endsWith('-list') && asked === 39 ? { status: 403, headers: SERVICE, body: '{"error":"no"}' } : undefined;
    await expect(past.live(store)).rejects.toMatchObject({ reason: 'forbidden' });
    const { samples, requests } = await past.live(store);
    expect(samples).toEqual(clean.samples);
    expectTruth(samples, truthOf(past));
    expect(requests).toEqual(clean.requests.slice(38));
  });

  it.each(['not found', 'without rows', 'not final'])(
    'names the epoch at which the service keeps saying %s, and continues from there',
    async (what) => {
      const past = new Past();
      using store = await Store.open(`${past.output}.backfill`);
      past.fault = (path, { epoch = 0 }) => {
        if (!path.endsWith('rewards-list') || epoch !== FIRST + 5) return undefined;
        const data = what === 'not final' ? [{ validator: { index: 1 }, finality: 'not_finalized' }] : [];
        const body = JSON.stringify({ data, range: { epoch: { start: epoch, end: epoch } } });
        return what === 'not found' ? NOT_FOUND : { status: 200, headers: SERVICE, body };
      };
      await expect(past.live(store)).rejects.toThrow(`epoch ${FIRST + 5}`);
      past.fault = () => undefined;
      const { samples } = await past.live(store);
      expectTruth(samples, truthOf(past));
    },
  );

  it('ends with the newest final epoch', async () => {
    const past = new Past();
    past.finalized = LAST - 3;
    const { samples, requests } = await past.whole();
    expect(Math.max(...requests.map(({ epoch = 0 }) => epoch))).toBe(LAST - 3);
    expectTruth(samples, truthOf(past, FIRST, LAST - 3));
  });

  it('has each epoch in exactly one of two adjacent ranges', async () => {
    const middle = epochTime('mainnet', FIRST + 6) + 200;
    const ranges = [
      { ...RANGE, end: middle },
      { ...RANGE, start: middle },
    ] as const;
    const both = await Promise.all(ranges.map((range) => new Past().whole(range)));
    const epochs = both.map(({ requests }) => new Set(requests.map(({ epoch }) => epoch)));
    expect(epochs.map(({ size }) => size)).toEqual([6, 6]);
    expect(epochs[0]?.isDisjointFrom(epochs[1] as Set<number>)).toBe(true);
    for (const [i, { samples }] of both.entries()) {
      const times = samples.map(({ timestamp = 0 }) => timestamp);
      expect(Math.min(...times)).toBeGreaterThan(ranges[i]?.start ?? Infinity);
      expect(Math.max(...times)).toBeLessThanOrEqual(ranges[i]?.end ?? 0);
    }
  });

  it('counts unreadable rows as unread, and reports their number', async () => {
    const past = new Past();
    past.fault = (path, { epoch = 0 }) => {
      if (!path.endsWith('performance-list') || epoch !== FIRST + 5) return undefined;
      const row = { validator: { index: 'odd' }, finality: 'finalized' };
      const good = { validator: { index: 1 }, finality: 'finalized', duties: { attestation: null } };
      const body = { data: [good, row, row], range: { epoch: { start: epoch, end: epoch } } };
      return { status: 200, headers: SERVICE, body: JSON.stringify(body) };
    };
    const watch = watchOf([{ first: 1, last: 3 }]);
    past.options = { ...past.options, groups: [{ watch }], keys: NO_KEYS, watch };
    const { samples, flaws } = await past.whole();
    expect([...valuesOf(samples, 'unread_validator_epochs_total', { part: 'epoch_duties' }).values()]).toEqual([
      ...[0, 0, 0, 0, 0, 0],
      ...[2, 2, 2, 2, 2, 2, 2],
    ]);
    expect(flaws.bad).toBe(2);
  });

  it('has the series of groups, and of those that missed last, if many are watched', async () => {
    const past = new Past({ series: 10 });
    const { samples } = await past.whole();
    const own = samples.filter(({ labels }) => 'validator' in labels);
    const missed = own.filter(({ name }) => name.endsWith('_missed_attestations_total'));
    expect([...new Set(missed.map(({ labels }) => labels['validator']))]).toEqual(['2', '14']);
    expect(own.some(({ name }) => name.includes('_ether_'))).toBe(false);
    const sums = [...truthOf(past)].filter(([key]) => !key.includes('"validator"'));
    expectTruth(samples, new Map(sums));
  });

  it('depends on the watched validators and groups, not on later answers', async () => {
    const past = new Past();
    const basisOf = async (overrides: Partial<ValidatorsOptions> = {}): Promise<string | undefined> => {
      const before = past.options;
      past.options = { ...before, ...overrides };
      const basis = (await past.history()).basis?.(RANGE);
      past.options = before;
      return basis;
    };
    const basis = await basisOf();
    past.finalized -= 5;
    expect(await basisOf()).toBe(basis);
    const watch = watchOf([{ first: 1, last: JOINS - 1 }]);
    expect(await basisOf({ watch, groups: watchedGroups(watch, []) })).not.toBe(basis);
    expect(await basisOf({ groups: watchedGroups(past.options.watch, []), keys: NO_KEYS })).not.toBe(basis);
  });

  it('ends where the exporter began to count', async () => {
    const past = new Past();
    expect((await past.history()).liveFrom).toBeNull();
    const ledger = { done: [], failed: [], unreadable: [], skipped: 0, unread: 0, groups: [], validators: [] };
    past.value = {
      ...NO_VALIDATORS,
      epoch_duties: { ...ledger, first: LAST - 1 },
      epoch_rewards: { ...ledger, first: LAST },
    };
    expect((await past.history()).liveFrom).toBe(epochTime('mainnet', LAST - 1));
  });
});
