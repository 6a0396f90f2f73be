import { CHAINS, type Chain, SECONDS_PER_EPOCH } from '../../../src/facts/chain.ts';
import { watchedGroups } from '../../../src/facts/groups.ts';
import { watchOf } from '../../../src/facts/watch.ts';
import type { Entry } from '../../../src/scheduler/entry.ts';
import { link, type Summary } from '../../../src/sources/content.ts';
import { type Inputs, NO_INPUTS, type Timing } from '../../../src/sources/read.ts';
import { validatorsSource } from '../../../src/sources/validators/index.ts';
import type { ValidatorsOptions } from '../../../src/sources/validators/options.ts';
import { validatorsPage } from '../../../src/sources/validators/page.ts';
import { NO_VALIDATORS, type Validators } from '../../../src/sources/validators/state.ts';
import type { Family } from '../../../src/toolkit/exposition/family.ts';
import { entryWith, type RoundOptions, round } from '../runs/round.ts';
import { HOUR, timing } from '../time/timing.ts';
import { type FakeApi, failed, fakeApi, type SentRequest } from './fake-api.ts';

export const EPOCH = 384_000;
export const PERIOD = 256 * EPOCH;

/** Unix ms at which an epoch of mainnet starts. */
export function startOfEpoch(epoch: number): number {
  return (CHAINS.mainnet.genesis + epoch * SECONDS_PER_EPOCH) * 1000;
}

/** Epoch 444377, of which api-facts 10.1 has a recorded answer; far from the boundaries of its period, 1735. */
export const NOW = startOfEpoch(444_377) + 100_000;
export const CURRENT = 1735;

/** The range of an answer about these epochs, both inclusive (api-facts 3.1). */
export function rangeOf(first: number, last = first, chain: Chain = 'mainnet'): object {
  const { genesis } = CHAINS[chain];
  return {
    slot: { start: first * 32, end: last * 32 + 31 },
    epoch: { start: first, end: last },
    timestamp: { start: genesis + first * SECONDS_PER_EPOCH, end: genesis + (last + 1) * SECONDS_PER_EPOCH - 1 },
  };
}

/** As recorded from production (api-facts 10.1). */
export function validatorRow(index: number, overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    validator: { index, public_key: `0x${'82'.repeat(48)}` },
    slashed: false,
    status: 'active_ongoing',
    online: true,
    withdrawal_credentials: { type: 'execution_address', prefix: '0x01', credential: '0x01', address: '0x02' },
    life_cycle_epochs: { activation_eligibility: 0, activation: 0, exit: null, withdrawable: null },
    balances: { current: '32002422501000000000', effective: '32000000000000000000' },
    finality: 'not_finalized',
    ...overrides,
  };
}

export function validatorsAnswer(epoch: number, rows: readonly unknown[], cursor = ''): unknown {
  return { data: rows, range: rangeOf(epoch), paging: { next_cursor: cursor } };
}

/** As api-facts 10.2 has it. */
export function performanceAnswer(assigned: number, missed: number, score: number | null, votes = {}): unknown {
  return {
    data: {
      beaconscore: { total: score, attestation: score, proposal: null, sync_committee: null },
      duties: {
        attestation: { included: assigned - missed, assigned, missed, correct_head: 1, ...votes },
        sync_committee: { successful: 0, assigned: 0, missed: 0 },
        proposal: { successful: 1, assigned: 2, missed: 1, included_slashings: 0 },
      },
      finality: 'not_finalized',
    },
    range: rangeOf(444_375),
  };
}

/** As api-facts 11.1 has it. */
export function rewardsAnswer(data: object = {}, epoch = 444_375): unknown {
  const part = (total: string, reward: string, penalty: string, missed_reward: string) => {
    return { total, reward, penalty, missed_reward };
  };
  const inclusion = { attestation_inclusion_reward: '0', sync_inclusion_reward: '0', slashing_inclusion_reward: '0' };
  return {
    data: {
      ...{ total: '6094000000000000', total_reward: '6100000000000000' },
      ...{ total_penalty: '6000000000000', total_missed: '36000000000000' },
      attestation: {
        total: '6094000000000000',
        head: part('1540000000000000', '1540000000000000', '0', '30000000000000'),
        source: part('1598000000000000', '1600000000000000', '2000000000000', '2000000000000'),
        target: part('2956000000000000', '2960000000000000', '4000000000000', '4000000000000'),
        inactivity_leak_penalty: '0',
        inclusion_delay: null,
      },
      sync_committee: part('0', '0', '0', '0'),
      proposal: { total: '0', execution_layer_reward: '0', ...inclusion, missed_cl_reward: '0', missed_el_reward: '0' },
      finality: 'finalized',
      ...data,
    },
    range: rangeOf(epoch),
  };
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
