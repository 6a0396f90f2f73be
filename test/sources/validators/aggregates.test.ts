import { describe, expect, it } from 'vitest';
import { validatorsSource } from '../../../src/sources/validators/index.ts';
import type { Validators } from '../../../src/sources/validators/schema.ts';
import { type FakeApi, failed, failing, type SentRequest } from '../../support/answers/fake-api.ts';
import {
  EPOCH,
  familiesOf,
  identifiersOf,
  MANY,
  NOW,
  nextSumsDue,
  performanceAnswer,
  poll,
  rewardsAnswer,
  serviceOf,
  sizesAsked,
} from '../../support/answers/validators.ts';
import { sampleValue } from '../../support/exposition/samples.ts';
import { DAY, MINUTE, timing } from '../../support/time/timing.ts';

const NONE = { groups: [], polls: 0 };

function shown(state: Validators, name: string, labels: Record<string, string>, now = NOW): number | undefined {
  return sampleValue(familiesOf(state, now, MANY), `beaconchain_watched_validators_${name}`, {
    chain: 'mainnet',
    ...labels,
  });
}

describe.each([
  ['performance', performanceAnswer(1, 0, 1), 'score_ratio', { duty: 'total' }],
  ['rewards', rewardsAnswer(), 'penalties_ether', {}],
] as const)('the %s of watched validators', (part, answer, family, labels) => {
  const asked = `validators_${part}` as const;
  const value = (state: Validators, now?: number): number | undefined => shown(state, family, labels, now);
  const serviceWith = (reply: (request: SentRequest) => unknown) => serviceOf({ [asked]: reply });
  const sizes = (api: FakeApi): number[] => sizesAsked(api, asked);

  it('is requested for 100 at a time, with the first poll and then with every ninth', async () => {
    const api = serviceOf();
    let state = (await poll(api, undefined, MANY)).value;
    const order = ['validators', 'validators_performance', 'validators_rewards'];
    expect([...new Set(api.requests.map(({ endpoint }) => endpoint))]).toEqual(order);
    expect(api.requests.find(({ endpoint }) => endpoint === asked)).toMatchObject({
      path: `/api/v2/ethereum/validators/${part}-aggregate`,
      body: { chain: 'mainnet', range: { evaluation_window: '24h' } },
    });
    expect(sizes(api)).toEqual([100, 50]);
    const polls: number[] = [];
    for (let i = 1; i <= 18; i += 1) {
      const before = sizes(api).length;
      state = (await poll(api, state, MANY, NOW + i * EPOCH)).value;
      if (sizes(api).length > before) polls.push(i);
    }
    expect(polls).toEqual([9, 18]);
  });

  it('is requested for 20 at a time if the plan refuses 100, and 100 are tried again after a reload', async () => {
    const limited = (max: number) =>
      serviceWith((request) => {
        if (identifiersOf(request).length > max) throw failed(request, 'forbidden');
        return answer;
      });
    const api = limited(20);
    const { value: state, failure } = await poll(api, undefined, MANY);
    expect(failure).toBeUndefined();
    expect(sizes(api)).toEqual([100, 20, 20, 20, 20, 20, 20, 20, 10]);
    const due = nextSumsDue(state);
    const next = limited(20);
    await poll(next, due, MANY, NOW + EPOCH);
    expect(sizes(next)).toEqual([20, 20, 20, 20, 20, 20, 20, 10]);
    const upgraded = limited(100);
    await poll(upgraded, validatorsSource(MANY).anew?.(due, NOW), MANY, NOW + EPOCH);
    expect(sizes(upgraded)).toEqual([100, 50]);
  });

  it('is off for a day if 20 are refused too, and again ten minutes later, reported once; the others continue', async () => {
    const api = serviceWith(failing('forbidden'));
    const first = await poll(api, undefined, MANY);
    expect(first.failure).toMatchObject({ reason: 'forbidden' });
    expect(first.events).toEqual([]);
    const { value: state, failure, events } = await poll(api, first.value, MANY, NOW + 10 * MINUTE);
    expect(failure).toBeUndefined();
    expect(sizes(api)).toEqual([100, 20, 100, 20]);
    expect(events).toMatchObject([{ type: 'part_refused', part }]);
    const parts = ['status', 'performance', 'rewards'].map((one) => ({ part: one, isRefused: one === part }));
    expect(validatorsSource(MANY).parts?.(state)).toEqual(parts);
    expect(shown(state, 'online', {}, NOW + 10 * MINUTE)).toBe(150);
    const lists = { performance: state.performance.groups.length, rewards: state.rewards.groups.length };
    expect(lists).toEqual({ performance: 1, rewards: 1, [part]: 0 });
    const due = nextSumsDue(state);
    await poll(api, due, MANY, NOW + 2 * EPOCH);
    expect(sizes(api)).toHaveLength(4);
    const { events: again } = await poll(api, due, MANY, NOW + 10 * MINUTE + DAY);
    expect(sizes(api)).toHaveLength(6);
    expect(again).toEqual([]);
  });

  it('keeps the previous values unless all were read, and withdraws them after 18 intervals', async () => {
    const { value: known } = await poll(serviceOf(), undefined, MANY);
    let requests = 0;
    const api = serviceWith((request) => {
      requests += 1;
      if (requests === 2) throw failed(request, 'server_error');
      return answer;
    });
    const { value: state, failure } = await poll(api, nextSumsDue(known), MANY, NOW + EPOCH);
    expect(failure).toMatchObject({ reason: 'server_error' });
    expect(state[part].groups).toEqual(known[part].groups);
    // The next poll reads it again. Otherwise a request that the service no longer takes would fail one poll of nine.
    await poll(api, state, MANY, NOW + EPOCH + MINUTE);
    expect(requests).toBe(4);
    const later = timing({ now: NOW + 26 * EPOCH, intervalMs: EPOCH });
    const alone = { ...state, performance: NONE, rewards: NONE, [part]: state[part] };
    expect(validatorsSource(MANY).nextChange(alone, later)).toBe(NOW + 27 * EPOCH + 1);
    expect(value(state, NOW + 27 * EPOCH)).toBeDefined();
    expect(value(state, NOW + 27 * EPOCH + 1)).toBeUndefined();
  });
});

describe('the performance of watched validators', () => {
  it('sums the duties, and weights the scores by assigned duties, also one below 0; no series if a score is null', async () => {
    const answers = [performanceAnswer(300, 30, 0.9), performanceAnswer(100, 0, -0.5)];
    const api = serviceOf({ validators_performance: () => answers.shift() });
    const { value: state } = await poll(api, undefined, MANY);
    expect(shown(state, 'duties', { duty: 'attestation', status: 'assigned' })).toBe(400);
    expect(shown(state, 'duties', { duty: 'attestation', status: 'missed' })).toBe(30);
    expect(shown(state, 'duties', { duty: 'attestation', status: 'done' })).toBe(370);
    expect(shown(state, 'duties', { duty: 'proposal', status: 'done' })).toBe(2);
    expect(shown(state, 'score_ratio', { duty: 'attestation' })).toBeCloseTo(0.55, 12);
    expect(shown(state, 'score_ratio', { duty: 'proposal' })).toBeUndefined();
  });

  it.each([
    ['without duties', { beaconscore: null }],
    ['without one of them', { duties: { attestation: null, proposal: null } }],
    ['without a number of them', { duties: { attestation: { assigned: 7 }, proposal: null, sync_committee: null } }],
  ])('an answer %s is none: what is absent is not 0', async (_, data) => {
    const api = serviceOf({ validators_performance: () => ({ data }) });
    const { value: state, failure } = await poll(api, undefined, MANY);
    expect(failure).toMatchObject({ endpoint: 'validators_performance', reason: 'invalid_body' });
    expect(shown(state, 'duties', { duty: 'attestation', status: 'missed' })).toBeUndefined();
  });
});
