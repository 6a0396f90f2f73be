import { describe, expect, it } from 'vitest';
import { type WatchedGroup, watchedGroups } from '../../../src/facts/groups.ts';
import { watches, watchOf } from '../../../src/facts/watch.ts';
import { membersAnswer } from '../../../src/sandbox/sync-committee.ts';
import type { Family } from '../../../src/toolkit/exposition/family.ts';
import { type FakeApi, failed, type SentRequest } from '../../support/answers/fake-api.ts';
import {
  atMost,
  CURRENT,
  chunksAsked,
  EPOCH,
  familiesOf,
  identifiersOf,
  NOW,
  next,
  pageOf,
  performanceAnswer,
  poll,
  rewardsAnswer,
  serviceOf,
  sizesAsked,
  validatorRow,
  validatorsAnswer,
  validatorsOptions,
} from '../../support/answers/validators.ts';
import { WATCHED } from '../../support/contract/metric-contract.ts';
import { samplesOf } from '../../support/exposition/samples.ts';
import { F, Follower, following } from '../../support/runs/follower.ts';

const HOME = watchOf([{ first: 1, last: 105 }]);
const OFFICE = watchOf([{ first: 500, last: 509 }]);
const WATCH = watchOf([
  { first: 1, last: 150 },
  { first: 500, last: 530 },
]);
/** 105 validators at home, 10 in the office, and 66 in no group. */
const GROUPS = watchedGroups(WATCH, [
  { name: 'home', watch: HOME },
  { name: 'office', watch: OFFICE },
]);
const OPTIONS = validatorsOptions({ watch: WATCH, groups: GROUPS, syncCommittee: true });

/** The families that are split by group. */
const SPLIT = [
  ...['', '_slashed', '_by_status', '_online', '_offline', '_by_credentials', '_score_ratio', '_duties', '_votes'],
  ...['', '_effective', '_offline_effective'].map((kind) => `${kind}_balance_ether`),
  ...['_inclusion_delay_slots', '_inclusion_delay_excluding_missed_slots'],
  ...['', '_execution', '_missed', '_missed_vote'].map((kind) => `${kind}_rewards_ether`),
  ...['_penalties_ether', '_inactivity_penalties_ether'],
].map((name) => `watched_validators${name}`);

const BY_EPOCH = /attestations(_total)?$|correct_votes|_ether_total|_epochs_total|counted_epoch/;

function groupOf(validator: number): WatchedGroup | undefined {
  return GROUPS.find(({ watch }) => watches(watch, validator));
}

/** Two validators of each group, of which one is slashed and one offline. */
const SLASHED = [3, 503, 120];
const OFFLINE = [4, 504, 520];

function service(isSlashed = true) {
  return serviceOf({
    validators: (request) => {
      const life_cycle_epochs = { exit: 400_000, withdrawable: 408_192 + 300 };
      const withdrawal_credentials = { prefix: '0x02', address: null };
      const odd = { online: false, life_cycle_epochs, withdrawal_credentials };
      const slashed = { ...odd, slashed: true, status: 'active_slashed' };
      const changeOf = (one: number): object => (SLASHED.includes(one) ? slashed : OFFLINE.includes(one) ? odd : {});
      const rows = identifiersOf(request).map((one) => validatorRow(one, { ...(isSlashed && changeOf(one)) }));
      return validatorsAnswer(444_377, rows);
    },
    validators_performance: (request) => {
      const { length } = identifiersOf(request);
      const votes = { correct_source: 2, correct_target: 3, avg_inclusion_delay: length / 100 };
      return performanceAnswer(225 * length, 0, 0.5, votes);
    },
    sync_committee_members: () => membersAnswer(CURRENT, [3, 503, 520]),
  });
}

/** The number of validators in each request to an endpoint. Fails if they are of two groups. */
function sizes(api: FakeApi, endpoint: SentRequest['endpoint']): number[] {
  for (const one of chunksAsked(api, endpoint)) expect(new Set(one.map(groupOf)).size).toBe(1);
  return sizesAsked(api, endpoint);
}

/** The values of the series of a family with these labels, by group. */
function byGroup(families: readonly Family[], name: string, labels: Record<string, string> = {}) {
  const samples = samplesOf(families, `beaconchain_watched_validators${name}`).filter((sample) =>
    Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
  return Object.fromEntries(samples.map((sample) => [sample.labels['group'] ?? 'none', sample.value]));
}

describe('groups of watched validators', () => {
  it('never share a request, even with 20 validators at a time', async () => {
    const api = service();
    const { value: state } = await poll(api, undefined, OPTIONS);
    expect(sizes(api, 'validators')).toEqual([...Array(10).fill(10), 5, 10, ...Array(6).fill(10), 6]);
    expect(sizes(api, 'validators_performance')).toEqual([100, 5, 10, 66]);
    expect(sizes(api, 'validators_rewards')).toEqual([100, 5, 10, 66]);
    const limited = serviceOf({ validators_rewards: atMost(20, rewardsAnswer()) });
    await poll(limited, state, OPTIONS, NOW + EPOCH);
    expect(sizes(limited, 'validators_rewards')).toEqual([100, 20, 20, 20, 20, 20, 5, 10, 20, 20, 20, 6]);
  });

  it('split every sum, label every validator, and change no other series', async () => {
    const { value: before } = await poll(service(false), undefined, OPTIONS);
    const { value: first } = await poll(service(), before, OPTIONS, NOW + EPOCH);
    // A second answer confirms other credentials.
    const { value: state } = await poll(service(), first, OPTIONS, NOW + EPOCH);
    const seen = new Set<string>();
    for (const { name, samples } of familiesOf(state, NOW + EPOCH, OPTIONS)) {
      const short = name.replace('beaconchain_', '');
      // Another test covers the counters of epochs.
      if (BY_EPOCH.test(name)) continue;
      expect(samples.length, name).toBeGreaterThan(0);
      if (SPLIT.includes(short)) {
        expect([...new Set(samples.map(({ labels }) => labels['group']))], name).toEqual(['home', 'office', undefined]);
        seen.add(short);
      } else if (samples.some(({ labels }) => 'validator' in labels)) {
        for (const { labels } of samples) expect(labels['group']).toBe(groupOf(Number(labels['validator']))?.group);
      } else expect(samples.map(({ labels }) => labels['group']).filter(Boolean), name).toEqual([]);
    }
    expect([...seen].sort()).toEqual(SPLIT.toSorted());
  });

  it('each have their own sums', async () => {
    const { value: state } = await poll(service(), undefined, OPTIONS);
    const families = familiesOf(state, NOW, OPTIONS);
    expect(byGroup(families, '')).toEqual({ home: 105, office: 10, none: 66 });
    expect(byGroup(families, '_slashed')).toEqual({ home: 1, office: 1, none: 1 });
    expect(byGroup(families, '_online')).toEqual({ home: 103, office: 8, none: 64 });
    expect(byGroup(families, '_offline_effective_balance_ether')).toEqual({ home: 32, office: 32, none: 32 });
    expect(byGroup(families, '_effective_balance_ether')).toEqual({ home: 3360, office: 320, none: 2112 });
    const attested = { duty: 'attestation', status: 'done' };
    expect(byGroup(families, '_duties', attested)).toEqual({ home: 225 * 105, office: 2_250, none: 225 * 66 });
    expect(byGroup(families, '_votes', { vote: 'target' })).toEqual({ home: 6, office: 3, none: 3 });
    const delay = byGroup(families, '_inclusion_delay_slots');
    expect(delay['home']).toBeCloseTo((100 * 1 + 5 * 0.05) / 105, 12);
    expect(delay).toMatchObject({ office: 0.1, none: 0.66 });
    expect(byGroup(families, '_penalties_ether')).toEqual({ home: 0.000012, office: 0.000006, none: 0.000006 });
    expect(byGroup(familiesOf({ ...state, validators: [] }, NOW, OPTIONS), '_offline_effective_balance_ether')).toEqual(
      {},
    );
  });

  it('have no sample while nothing is known, and no offline stake while all are online', async () => {
    const api = serviceOf({
      validators_rewards: (request) => {
        if (identifiersOf(request).includes(500)) throw failed(request, 'not_found');
        return rewardsAnswer({}, identifiersOf(request).includes(1) ? 444_370 : 444_375);
      },
    });
    const { value: state } = await poll(api, undefined, OPTIONS);
    const families = familiesOf(state, NOW, OPTIONS);
    expect(byGroup(families, '_offline_effective_balance_ether')).toEqual({ home: 0, office: 0, none: 0 });
    expect(byGroup(families, '_penalties_ether')).toEqual({ home: 0.000012, none: 0.000006 });
    // The epoch of the oldest answer of all groups.
    expect(byGroup(families, '_rewards_epoch')).toEqual({ none: 444_370 });
    const validators = state.validators.filter(({ index = -1 }) => !watches(OFFICE, index));
    expect(byGroup(familiesOf({ ...state, validators }, NOW, OPTIONS), '_online')).toEqual({ home: 105, none: 66 });
  });

  it('keep their status after a reload, and get new sums with the next status', async () => {
    const { value: state, entry } = await poll(service(), undefined, OPTIONS);
    const groups = watchedGroups(WATCH, [
      { name: 'house', watch: HOME },
      { name: 'office', watch: watchOf([{ first: 500, last: 510 }]) },
    ]);
    const changed = { ...OPTIONS, groups };
    const families = familiesOf(state, NOW, changed);
    expect(byGroup(families, '_online')).toEqual({ house: 103, office: 9, none: 63 });
    // Another name alone needs no new sums.
    expect(byGroup(families, '_penalties_ether')).toEqual({ house: 0.000012 });
    const { tables = [] } = pageOf(state, changed);
    expect(tables.map(({ title }) => title)).toEqual(['Validators', 'Leaving validators']);
    const { value: later, ran } = await next(service(), entry, changed, NOW + EPOCH);
    expect(ran).toEqual(['status', 'duties', 'rewards']);
    expect(byGroup(familiesOf(later, NOW + EPOCH, changed), '_penalties_ether')).toEqual({
      house: 0.000012,
      office: 0.000006,
      none: 0.000006,
    });
  });

  it('lose no counter after a reload, which moves the series of a validator to its new group', async () => {
    const watch = watchOf([{ first: 1, last: 9 }]);
    const split = (last: number) => watchedGroups(watch, [{ name: 'home', watch: watchOf([{ first: 1, last }]) }]);
    const follower = await following({ watch, countsSeats: true, groups: split(4) }, { seatsOf: () => [1, 2, 8] });
    follower.chain.advance();
    const slot = (F + 1) * 32;
    follower.chain.miss(slot, 2);
    follower.chain.put(slot + 1, { proposer: 8 });
    follower.chain.slash(slot + 2, [2, 8]);
    await follower.poll();
    const counters = (families: readonly Family[]) => families.filter(({ type }) => type === 'counter');
    const before = follower.families();
    const reloaded = new Follower({ watch, countsSeats: true, groups: split(1) });
    reloaded.entry = follower.entry;
    const after = reloaded.families();
    expect(counters(after)).toEqual(counters(before));
    expect(samplesOf(after, 'beaconchain_watched_proposals_total').map(({ value }) => value)).toEqual([1, 1, 0]);
    expect(byGroup(before, '')).toEqual({ home: 4, none: 5 });
    expect(byGroup(before, '_slashed')).toEqual({ home: 1, none: 1 });
    expect(byGroup(after, '_slashed')).toEqual({ home: 0, none: 2 });
    const ofTwo = (families: readonly Family[]) =>
      WATCHED.flatMap(([name]) => samplesOf(families, `beaconchain_${name}`)).flatMap(({ labels }) =>
        labels['validator'] === '2' ? [labels['group']] : [],
      );
    expect(ofTwo(before)).toEqual(['home', 'home']);
    expect(ofTwo(after)).toEqual([undefined, undefined]);
  });
});
