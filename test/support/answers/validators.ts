import { type Chain, epochTime } from '../../../src/facts/chain.ts';
import { watchedGroups } from '../../../src/facts/groups.ts';
import { watchOf } from '../../../src/facts/watch.ts';
import { epochsRange } from '../../../src/sandbox/chain-world.ts';
import { performanceAnswer as performance, rewardsAnswer as rewards } from '../../../src/sandbox/duties.ts';
import { type Duties, summed } from '../../../src/sandbox/epoch-duties.ts';
import { type Rewards, rewardsFor } from '../../../src/sandbox/rewards.ts';
import { validatorAt } from '../../../src/sandbox/validator.ts';
import { statusRow } from '../../../src/sandbox/validators.ts';
import { ETHER, GWEI, type Validator } from '../../../src/sandbox/validators-world.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import type { Entry } from '../../../src/scheduler/entry.ts';
import { link, type Summary } from '../../../src/sources/content.ts';
import { type Inputs, NO_INPUTS, type Timing } from '../../../src/sources/read.ts';
import { validatorsSource } from '../../../src/sources/validators/index.ts';
import type { ValidatorsOptions } from '../../../src/sources/validators/options.ts';
import { validatorsPage } from '../../../src/sources/validators/page.ts';
import { NO_VALIDATORS, type Validators } from '../../../src/sources/validators/state.ts';
import type { Family } from '../../../src/toolkit/exposition/family.ts';
import { entryWith, type RoundOptions, round } from '../runs/round.ts';
import { DAY, HOUR, timing } from '../time/timing.ts';
import { type FakeApi, failed, fakeApi, type SentRequest } from './fake-api.ts';

export const EPOCH = 384_000;
export const PERIOD = 256 * EPOCH;

/** Unix ms at which an epoch of mainnet starts. */
export function startOfEpoch(epoch: number): number {
  return epochTime('mainnet', epoch) * 1000;
}

/** Epoch 444377, of which api-facts 10.1 has a recorded answer; far from the boundaries of its period, 1735. */
export const NOW = startOfEpoch(444_377) + 100_000;
export const CURRENT = 1735;

/** The range of an answer about these epochs, both inclusive (api-facts 3.1). */
export function rangeOf(first: number, last = first, chain: Chain = 'mainnet') {
  return epochsRange(chain, first, last);
}

const WORLD = new Sandbox().chains.mainnet;

/** With the balance of a recorded one (api-facts 10.1). */
export function validatorRow(index: number, overrides: Record<string, unknown> = {}): Record<string, unknown> {
  const balances = { current: 32_002_422_501n * GWEI, effective: 32n * ETHER };
  const validator = { ...(validatorAt(WORLD, index, 444_377) as Validator), balances };
  return { ...statusRow(validator, 444_377, true), ...overrides };
}

export function validatorsAnswer(epoch: number, rows: readonly unknown[], cursor = ''): unknown {
  return { data: rows, paging: { next_cursor: cursor }, range: rangeOf(epoch) };
}

/** Of validators that proposed one of two blocks. `votes` are fields about attestations. */
export function performanceAnswer(assigned: number, missed: number, score: number | null, votes: object = {}): unknown {
  const duties: Duties = { ...summed([]), assigned, included: assigned - missed, proposals: 2, proposed: 1 };
  const scores = { total: score, attestation: score, proposal: null, sync_committee: null };
  const { data, range } = performance(duties, scores, rangeOf(444_375));
  const { attestation, ...others } = data.duties;
  return { data: { ...data, duties: { attestation: { ...attestation, ...votes }, ...others } }, range };
}

const NOTHING = { reward: 0n, penalty: 0n, missed: 0n };
/** Those of the example in the documentation. */
export const REWARDS: Rewards = {
  head: { reward: 1_540_000n * GWEI, penalty: 0n, missed: 30_000n * GWEI },
  source: { reward: 1_600_000n * GWEI, penalty: 2_000n * GWEI, missed: 2_000n * GWEI },
  target: { reward: 2_960_000n * GWEI, penalty: 4_000n * GWEI, missed: 4_000n * GWEI },
  sync: NOTHING,
  proposal: rewardsFor(summed([]), 32n * ETHER).proposal,
};

/** With these fields instead. */
export function rewardsAnswer(fields: object = {}, epoch = 444_375): unknown {
  const { data, range } = rewards(REWARDS, rangeOf(epoch));
  return { data: { ...data, ...fields }, range };
}

/** A committee with these seats, by position. The others are those of strangers. */
export function committeeOf<T>(own: Readonly<Record<number, T>>): (T | number)[] {
  return Array.from({ length: 512 }, (_, seat) => own[seat] ?? 1_000_000 + seat);
}

/** 150 validators, which are two chunks of the requests for duties and rewards. */
export const MANY = validatorsOptions({ watch: watchOf([{ first: 1, last: 150 }]) });

export function validatorsOptions(overrides: Partial<ValidatorsOptions> = {}): ValidatorsOptions {
  const watch = overrides.watch ?? watchOf([{ first: 1, last: 12 }]);
  return {
    chain: 'mainnet',
    watch,
    groups: watchedGroups(watch, []),
    intervalMs: EPOCH,
    chains: 1,
    status: true,
    rewards: true,
    syncCommittee: false,
    epochs: false,
    catchUpMs: 7 * DAY,
    series: 100,
    ...overrides,
  };
}

type Answers = Partial<Record<SentRequest['endpoint'], (request: SentRequest) => unknown>>;

/** Every validator is online, unless `answers` say something else. */
export function serviceOf(answers: Answers = {}, epoch = 444_377): FakeApi {
  const usual: Answers = {
    validators: (request) =>
      validatorsAnswer(
        epoch,
        identifiersOf(request).map((index) => validatorRow(index)),
      ),
    validators_performance: (request) => performanceAnswer(225 * identifiersOf(request).length, 0, 0.99),
    validators_rewards: () => rewardsAnswer(),
    sync_committee_members: () => ({ status: 'OK', data: [] }),
  };
  return fakeApi((request) => (answers[request.endpoint] ?? usual[request.endpoint])?.(request));
}

export function identifiersOf({ body }: SentRequest): number[] {
  return (body as { validator: { validator_identifiers: number[] } }).validator.validator_identifiers;
}

/** Refuses a request for more validators than that. */
export function atMost(max: number, answer: unknown): (request: SentRequest) => unknown {
  return (request) => {
    if (identifiersOf(request).length > max) throw failed(request, 'forbidden');
    return answer;
  };
}

/** The validators that each request to an endpoint asks for. */
export function chunksAsked(api: FakeApi, endpoint: SentRequest['endpoint']): number[][] {
  return api.requests.filter((request) => request.endpoint === endpoint).map(identifiersOf);
}

/** How many validators each request to an endpoint asks for. */
export function sizesAsked(api: FakeApi, endpoint: SentRequest['endpoint']): number[] {
  return chunksAsked(api, endpoint).map(({ length }) => length);
}

/** The interval of the sums over 24 hours. */
export const NINE = 9 * EPOCH;

/** At the configured intervals. */
export function validatorsTiming(now = NOW): Timing {
  return timing({ now, intervalMs: EPOCH, of: { status: EPOCH, duties: NINE, rewards: NINE, members: HOUR } });
}

export function familiesOf(
  value: Validators,
  now = NOW,
  options = validatorsOptions(),
  inputs: Partial<Inputs> = {},
): Family[] {
  return validatorsSource(options).metrics(value, validatorsTiming(now), { ...NO_INPUTS, ...inputs });
}

export function pageOf(value: Validators, options = validatorsOptions()): Summary {
  return validatorsPage(options, value, validatorsTiming(), { inputs: NO_INPUTS, linked: link });
}

/** When these samples have to be computed anew. */
export function changesAt(families: readonly Family[]): number {
  return Math.min(...families.flatMap(({ samples }) => samples.map(({ until = Number.POSITIVE_INFINITY }) => until)));
}

/** One round with every read. */
export function poll(api: FakeApi, value = NO_VALIDATORS, options = validatorsOptions(), now = NOW) {
  const source = validatorsSource(options);
  return round(source, api, entryWith(source, value), { now });
}

/** The next round, with the reads that are due. */
export function next(
  api: FakeApi,
  before: Entry<Validators>,
  options: ValidatorsOptions,
  now: number,
  more: Partial<RoundOptions> = {},
) {
  return round(validatorsSource(options), api, before, { now, ...more });
}
