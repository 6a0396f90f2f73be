import { describe, expect, it } from 'vitest';
import { watchedGroups } from '../../../src/facts/groups.ts';
import { watchOf } from '../../../src/facts/watch.ts';
import type { Validators } from '../../../src/sources/validators/state.ts';
import { type FakeApi, failed, failing, type SentRequest } from '../../support/answers/fake-api.ts';
import {
  atMost,
  changesAt,
  chunksAsked,
  EPOCH,
  familiesOf,
  identifiersOf,
  MANY,
  NINE,
  NOW,
  next,
  performanceAnswer,
  poll,
  rewardsAnswer,
  serviceOf,
  sizesAsked,
  startOfEpoch,
  validatorRow,
  validatorsAnswer,
  validatorsOptions,
} from '../../support/answers/validators.ts';
import { sampleValue, seriesIn } from '../../support/exposition/samples.ts';
import { DAY, MINUTE } from '../../support/time/timing.ts';

function shown(state: Validators, name: string, labels: Record<string, string>, now = NOW): number | undefined {
  return sampleValue(familiesOf(state, now, MANY), `beaconchain_watched_validators_${name}`, {
    chain: 'mainnet',
    ...labels,
  });
}

describe.each([
  ['performance', 'duties', performanceAnswer(1, 0, 1), 'score_ratio', { duty: 'total' }],
  ['rewards', 'rewards', rewardsAnswer(), 'penalties_ether', {}],
] as const)('the %s of watched validators', (part, read, answer, family, labels) => {
  const asked = `validators_${part}` as const;
  const value = (state: Validators, now?: number): number | undefined => shown(state, family, labels, now);
  const serviceWith = (reply: (request: SentRequest) => unknown) => serviceOf({ [asked]: reply });
  const sizes = (api: FakeApi): number[] => sizesAsked(api, asked);
  const limited = (max: number) => serviceWith(atMost(max, answer));

  it('is requested for 100 at a time, after the status, every nine intervals', async () => {
    const api = serviceOf();
    let { entry } = await poll(api, undefined, MANY);
    const order = ['validators', 'validators_performance', 'validators_rewards'];
    expect([...new Set(api.requests.map(({ endpoint }) => endpoint))]).toEqual(order);
    expect(api.requests.find(({ endpoint }) => endpoint === asked)).toMatchObject({
      path: `/api/v2/ethereum/validators/${part}-aggregate`,
      body: { chain: 'mainnet', range: { evaluation_window: '24h' } },
    });
    expect(sizes(api)).toEqual([100, 50]);
    const polls: number[] = [];
    for (let i = 1; i <= 18; i += 1) {
      const { ran, ...after } = await next(api, entry, MANY, NOW + i * EPOCH);
      ({ entry } = after);
      if (ran.includes(read)) polls.push(i);
    }
    expect(polls).toEqual([9, 18]);
    expect(sizes(api)).toHaveLength(6);
  });

  it('is requested for 20 at a time if the plan refuses 100, until a reload', async () => {
    const api = limited(20);
    const { value: state, entry, failure } = await poll(api, undefined, MANY);
    expect(failure).toBeUndefined();
    expect(entry.refusals).toEqual({});
    expect(sizes(api)).toEqual([100, 20, 20, 20, 20, 20, 20, 20, 10]);
    const again = limited(20);
    await poll(again, state, MANY, NOW + EPOCH);
    expect(sizes(again)).toEqual([20, 20, 20, 20, 20, 20, 20, 10]);
    const upgraded = limited(100);
    await next(upgraded, entry, MANY, NOW + NINE, { tried: new Set() });
    expect(sizes(upgraded)).toEqual([100, 50]);
  });

  it('is off for a day if 20 are refused too, twice in ten minutes, while the other reads continue', async () => {
    const api = serviceWith(failing('forbidden'));
    const first = await poll(api, undefined, MANY);
    expect(first.failure).toMatchObject({ reason: 'forbidden' });
    expect(first.events).toEqual([]);
    const later = NOW + 10 * MINUTE;
    const { entry, value: state, failure, events } = await next(api, first.entry, MANY, later);
    expect(failure).toBeUndefined();
    expect(sizes(api)).toEqual([100, 20, 100, 20]);
    expect(events).toMatchObject([{ type: 'part_refused', part }]);
    expect(shown(state, 'online', {}, later)).toBe(150);
    const known = { duties: state.duties.length, rewards: state.rewards.length };
    expect(known).toEqual({ duties: 1, rewards: 1, [read]: 0 });
    await next(api, entry, MANY, NOW + NINE);
    expect(sizes(api)).toHaveLength(4);
    const { events: again } = await next(api, entry, MANY, later + DAY);
    expect(sizes(api)).toHaveLength(6);
    expect(again).toEqual([]);
  });

  it('keeps the previous sums of a group until all of it is read, and withdraws them by their oldest answer', async () => {
    const { entry: known } = await poll(serviceOf(), undefined, MANY);
    let requests = 0;
    const api = serviceWith((request) => {
      requests += 1;
      if (requests === 2) throw failed(request, 'server_error');
      return answer;
    });
    const { entry, value: state, failure } = await next(api, known, MANY, NOW + NINE);
    expect(failure).toMatchObject({ reason: 'server_error' });
    expect(state[read]).toEqual(known.value[read]);
    // A failed chunk must not cost the sums of an hour.
    await next(api, entry, MANY, NOW + NINE + MINUTE);
    expect(requests).toBe(4);
    const alone = { ...state, validators: [], duties: [], rewards: [], [read]: state[read] };
    const until = startOfEpoch(444_376 + 6 + 18);
    expect(changesAt(familiesOf(alone, NOW + 20 * EPOCH, MANY))).toBe(until + 1);
    expect(value(state, until)).toBeDefined();
    expect(value(state, until + 1)).toBeUndefined();
  });

  it('is read once an hour for each other group while that of one group fails', async () => {
    const own = Array.from({ length: 9 }, (_, i) => ({ first: 10 * i + 1, last: 10 * i + 10 }));
    const named = own.map((range, i) => ({ name: `group-${i}`, watch: watchOf([range]) }));
    const options = { ...MANY, groups: watchedGroups(MANY.watch, named).slice(0, 9) };
    const api = serviceWith((request) => {
      if (identifiersOf(request).includes(21)) throw failed(request, 'server_error');
      return answer;
    });
    let { entry, failure } = await poll(api, undefined, options);
    expect(failure).toMatchObject({ reason: 'server_error' });
    expect(entry.value[read]).toHaveLength(8);
    for (let now = NOW; now < NOW + NINE; now += EPOCH / 4) ({ entry } = await next(api, entry, options, now));
    const [bad, good] = [true, false].map((is) => chunksAsked(api, asked).filter((one) => one.includes(21) === is));
    expect(good).toHaveLength(8);
    expect(bad?.length).toBeGreaterThanOrEqual(5);
    expect(bad?.length).toBeLessThan(10);
  });

  it.each<[string, Record<string, unknown> | null | 'unread', epoch?: number]>([
    ['active', {}],
    ['not read', 'unread'],
    ['that left less than a day ago', { status: 'exited_unslashed', life_cycle_epochs: { exit: 444_377 - 224 } }],
    ['that left at an unknown time', { status: 'exited_slashed', life_cycle_epochs: null }],
    ['that were pending five hours ago', { status: 'pending_queued' }, 444_330],
  ])('a 404 for validators %s is a failure, because a part of a sum is not the sum', async (_, row, epoch) => {
    const { value: state } = await poll(oneNotFound(row, epoch), undefined, MANY);
    expect(state[read]).toEqual([]);
    const { value: known, entry } = await poll(serviceOf(), undefined, MANY);
    const { value: kept, failure } = await next(oneNotFound(row, epoch), entry, MANY, NOW + NINE);
    expect(failure).toBeInstanceOf(Error);
    expect(kept[read]).toEqual(known[read]);
  });

  it.each([
    ['that left a day ago', { status: 'exited_slashed', life_cycle_epochs: { exit: 444_377 - 225 } }],
    ['that are pending', { status: 'pending_queued' }],
    ['that left long ago', { status: 'withdrawal_done', life_cycle_epochs: null }],
    ['that do not exist', null],
  ])('a 404 for validators %s means that they had no duties', async (_, row) => {
    const { value: state, failure } = await poll(oneNotFound(row), undefined, MANY);
    expect(failure).toBeUndefined();
    expect(state[read]).toHaveLength(1);
  });

  /** The aggregate gives a 404 for validators 101 to 150, whose status is this row. */
  function oneNotFound(row: Record<string, unknown> | null | 'unread', epoch = 444_377): FakeApi {
    return serviceOf({
      validators(request) {
        const late = identifiersOf(request).filter((index) => index > 100);
        if (late.length > 0 && row === 'unread') throw failed(request, 'server_error');
        return validatorsAnswer(
          epoch,
          identifiersOf(request).flatMap((one) =>
            one <= 100 ? validatorRow(one) : row ? validatorRow(one, Object(row)) : [],
          ),
        );
      },
      [asked](request: SentRequest) {
        if (identifiersOf(request).includes(101)) throw failed(request, 'not_found');
        return answer;
      },
    });
  }
});

describe('the performance of watched validators', () => {
  it('sums the duties, and weights the scores by duties, if all scores are valid', async () => {
    const chunks = [performanceAnswer(300, 30, 0.9), performanceAnswer(100, 0, 0.5)];
    const { value: state } = await poll(serviceOf({ validators_performance: () => chunks.shift() }), undefined, MANY);
    expect(shown(state, 'duties', { duty: 'attestation', status: 'assigned' })).toBe(400);
    expect(shown(state, 'duties', { duty: 'attestation', status: 'missed' })).toBe(30);
    expect(shown(state, 'duties', { duty: 'attestation', status: 'done' })).toBe(370);
    expect(shown(state, 'duties', { duty: 'proposal', status: 'done' })).toBe(2);
    expect(shown(state, 'score_ratio', { duty: 'attestation' })).toBeCloseTo(0.8, 12);
    expect(shown(state, 'score_ratio', { duty: 'proposal' })).toBeUndefined();
    for (const none of [-1, -0.5, 1.5, 'x', null]) {
      const odd = [performanceAnswer(300, 30, 0.9), performanceAnswer(100, 0, none as number)];
      const { value: one } = await poll(serviceOf({ validators_performance: () => odd.shift() }), undefined, MANY);
      expect(shown(one, 'score_ratio', { duty: 'attestation' })).toBeUndefined();
    }
  });

  it('shows no score without a duty, and none outside 0 to 1', async () => {
    const beaconscore = { total: -0.1, attestation: 0.9, proposal: 0.8, sync_committee: 0.7 };
    const none = { successful: 0, assigned: 0, missed: 0 };
    const attestation = { included: 9, assigned: 10, missed: 1 };
    const data = { beaconscore, duties: { attestation, proposal: none, sync_committee: null } };
    const { value: state } = await poll(serviceOf({ validators_performance: () => ({ data }) }), undefined, MANY);
    const scores = ['total', 'attestation', 'proposal', 'sync_committee'].map((duty) =>
      shown(state, 'score_ratio', { duty }),
    );
    expect(scores).toEqual([undefined, 0.9, undefined, undefined]);
  });
});

const REWARDS = [
  'rewards_ether',
  'execution_rewards_ether',
  'penalties_ether',
  'missed_rewards_ether',
  'missed_vote_rewards_ether',
  'inactivity_penalties_ether',
  'rewards_epoch',
];

const OF_VOTES = ['head', 'source', 'target'].map((vote) => `missed_vote_rewards_ether ${vote}`);
const VOTED = (rewardsAnswer() as { data: { attestation: object } }).data.attestation;

/** The value of each series of the rewards, by name and duty. */
function seriesOf(state: Validators, now = NOW, options = MANY): Record<string, number> {
  const families = familiesOf(state, now, options).map((family) => {
    return { ...family, name: family.name.replace('beaconchain_watched_validators_', '') };
  });
  return seriesIn(
    families.filter(({ name }) => REWARDS.includes(name)),
    'mainnet',
  );
}

/** A service that answers requests for rewards with these bodies, in order. */
function rewarding(...answers: unknown[]) {
  return serviceOf({ validators_rewards: () => answers.shift() });
}

describe('the rewards of watched validators', () => {
  it('are exact in ether, may be negative, and have the epoch of the oldest answer', async () => {
    const attestation = {
      total: '-1234567890123456789',
      head: { missed_reward: '1' },
      source: { missed_reward: '2' },
      target: { missed_reward: '1000000000000000000' },
      inactivity_leak_penalty: '3000000000000000',
    };
    const sync_committee = { total: '-5000000000', reward: '0', penalty: '5000000000', missed_reward: '5000000000' };
    const proposal = {
      total: '80651309222696592',
      execution_layer_reward: '35087332222696592',
      attestation_inclusion_reward: '43946801000000000',
      sync_inclusion_reward: '1617176000000000',
      slashing_inclusion_reward: '7',
      missed_cl_reward: '40000000000000000',
      missed_el_reward: '2',
      a_new_reward: 5,
    };
    const fields = { total_penalty: '1234567890123456790', attestation, sync_committee, proposal };
    const [first, second] = [rewardsAnswer(), rewardsAnswer(fields, 444_374)];
    const { value: alone } = await poll(rewarding(first), undefined, validatorsOptions());
    expect(seriesOf(alone, NOW, validatorsOptions())).toEqual({
      'rewards_ether attestation': 0.006094,
      'rewards_ether proposal': 0,
      'rewards_ether sync_committee': 0,
      execution_rewards_ether: 0,
      penalties_ether: 0.000006,
      'missed_rewards_ether attestation': 0.000036,
      'missed_rewards_ether proposal': 0,
      'missed_rewards_ether sync_committee': 0,
      'missed_vote_rewards_ether head': 0.00003,
      'missed_vote_rewards_ether source': 0.000002,
      'missed_vote_rewards_ether target': 0.000004,
      inactivity_penalties_ether: 0,
      rewards_epoch: 444_375,
    });
    const { value: both } = await poll(rewarding(first, second), undefined, MANY);
    expect(seriesOf(both)).toEqual({
      'rewards_ether attestation': Number('-1.228473890123456789'),
      'rewards_ether proposal': Number('0.045563977000000007'),
      'rewards_ether sync_committee': -0.000000005,
      execution_rewards_ether: Number('0.035087332222696592'),
      penalties_ether: Number('1.23457389012345679'),
      'missed_rewards_ether attestation': Number('1.000036000000000003'),
      'missed_rewards_ether proposal': Number('0.040000000000000002'),
      'missed_rewards_ether sync_committee': 0.000000005,
      'missed_vote_rewards_ether head': Number('0.000030000000000001'),
      'missed_vote_rewards_ether source': Number('0.000002000000000002'),
      'missed_vote_rewards_ether target': 1.000004,
      inactivity_penalties_ether: 0.003,
      rewards_epoch: 444_374,
    });
  });

  it.each<[string, object, readonly string[]]>([
    [
      'attestation',
      { attestation: null },
      ['rewards_ether attestation', 'missed_rewards_ether attestation', 'inactivity_penalties_ether', ...OF_VOTES],
    ],
    [
      'a vote',
      { attestation: { ...VOTED, head: null } },
      ['missed_rewards_ether attestation', 'missed_vote_rewards_ether head'],
    ],
    [
      'proposal',
      { proposal: undefined },
      ['rewards_ether proposal', 'missed_rewards_ether proposal', 'execution_rewards_ether'],
    ],
    ['penalty', { total_penalty: null }, ['penalties_ether']],
    ['sync committee', { sync_committee: {} }, ['rewards_ether sync_committee', 'missed_rewards_ether sync_committee']],
  ])('have no series for %s if one answer lacks it', async (_, lacking, absent) => {
    const { value: state, failure } = await poll(rewarding(rewardsAnswer(), rewardsAnswer(lacking)), undefined, MANY);
    expect(failure).toBeUndefined();
    const { value: whole } = await poll(serviceOf(), undefined, MANY);
    const expected = Object.keys(seriesOf(whole)).filter((series) => !absent.includes(series));
    expect(Object.keys(seriesOf(state))).toEqual(expected);
  });

  // For a validator of 2,048 ETH the service estimates from what others earn.
  it('can have a negative estimate or penalty', async () => {
    const part = { total: '5', missed_reward: '-3000000000000000' };
    const answer = rewardsAnswer({ total_penalty: '-6', sync_committee: part });
    const { value: state, failure } = await poll(rewarding(answer, answer), undefined, MANY);
    expect(failure).toBeUndefined();
    expect(seriesOf(state)).toMatchObject({ penalties_ether: -12e-18, 'missed_rewards_ether sync_committee': -0.006 });
  });

  it('are neither requested nor shown if they are off', async () => {
    const off = { ...MANY, rewards: false };
    const api = serviceOf();
    const { value: known } = await poll(serviceOf(), undefined, MANY);
    const { value: state } = await poll(api, known, off, NOW + EPOCH);
    expect(sizesAsked(api, 'validators_rewards')).toEqual([]);
    expect(seriesOf(state, NOW + EPOCH, off)).toEqual({});
  });
});
