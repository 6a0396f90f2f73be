import { describe, expect, it } from 'vitest';
import { watchOf } from '../../../src/facts/watch.ts';
import type { Validators } from '../../../src/sources/validators/state.ts';
import { type FakeApi, failing } from '../../support/answers/fake-api.ts';
import {
  EPOCH,
  familiesOf,
  MANY,
  NOW,
  poll,
  rewardsAnswer,
  serviceOf,
  sizesAsked,
  validatorsOptions,
} from '../../support/answers/validators.ts';
import { seriesIn } from '../../support/exposition/samples.ts';

const NAMES = ['rewards_ether', 'execution_rewards_ether', 'penalties_ether', 'missed_rewards_ether', 'rewards_epoch'];

/** Every series of the rewards: its name and duty, and its value. */
function shown(state: Validators, now = NOW, options = MANY): Record<string, number> {
  const families = familiesOf(state, now, options).map((family) => {
    return { ...family, name: family.name.replace('beaconchain_watched_validators_', '') };
  });
  return seriesIn(
    families.filter(({ name }) => NAMES.includes(name)),
    'mainnet',
  );
}

function sizes(api: FakeApi): number[] {
  return sizesAsked(api, 'validators_rewards');
}

/** The service answers about rewards with these bodies, one after the other. */
function rewarding(...answers: unknown[]) {
  return serviceOf({ validators_rewards: () => answers.shift() });
}

describe('the rewards of watched validators', () => {
  it('are shown in ether, exactly, with the epoch of the oldest answer, and may be negative', async () => {
    const [first, second] = [
      rewardsAnswer(),
      rewardsAnswer(
        {
          total_penalty: '1234567890123456790',
          attestation: {
            total: '-1234567890123456789',
            head: { missed_reward: '1' },
            source: { missed_reward: '2' },
            target: { missed_reward: '1000000000000000000' },
          },
          sync_committee: { total: '-5000000000', reward: '0', penalty: '5000000000', missed_reward: '5000000000' },
          proposal: {
            total: '80651309222696592',
            execution_layer_reward: '35087332222696592',
            attestation_inclusion_reward: '43946801000000000',
            sync_inclusion_reward: '1617176000000000',
            slashing_inclusion_reward: '7',
            missed_cl_reward: '40000000000000000',
            missed_el_reward: '2',
            a_new_reward: 5,
          },
        },
        444_374,
      ),
    ];
    const { value: alone } = await poll(rewarding(first), undefined, validatorsOptions());
    expect(shown(alone, NOW, validatorsOptions())).toEqual({
      'rewards_ether attestation': 0.006094,
      'rewards_ether proposal': 0,
      'rewards_ether sync_committee': 0,
      execution_rewards_ether: 0,
      penalties_ether: 0.000006,
      'missed_rewards_ether attestation': 0.000036,
      'missed_rewards_ether proposal': 0,
      'missed_rewards_ether sync_committee': 0,
      rewards_epoch: 444_375,
    });
    const { value: both } = await poll(rewarding(first, second), undefined, MANY);
    expect(shown(both)).toEqual({
      'rewards_ether attestation': Number('-1.228473890123456789'),
      'rewards_ether proposal': Number('0.045563977000000007'),
      'rewards_ether sync_committee': -0.000000005,
      execution_rewards_ether: Number('0.035087332222696592'),
      penalties_ether: Number('1.23457389012345679'),
      'missed_rewards_ether attestation': Number('1.000036000000000003'),
      'missed_rewards_ether proposal': Number('0.040000000000000002'),
      'missed_rewards_ether sync_committee': 0.000000005,
      rewards_epoch: 444_374,
    });
  });

  it('of 10,000 validators in 100 answers are the exact sum, rounded once', async () => {
    const options = validatorsOptions({ watch: watchOf([{ first: 1, last: 10_000 }]) });
    const millionths = Array.from({ length: 100 }, (_, i) => 4_503_599_627 * (i + 1));
    const rests = millionths.map((one) => (one * 7) % 1_000_000_000_000);
    const api = rewarding(
      ...millionths.map((one, i) => rewardsAnswer({ total_penalty: `${one}${String(rests[i]).padStart(12, '0')}` })),
    );
    const { value: state } = await poll(api, undefined, options);
    expect(sizes(api)).toEqual(Array(100).fill(100));
    // Both sums are of integers that a double has exactly.
    const sum = (of: readonly number[]): number => of.reduce((total, one) => total + one, 0);
    const millionth = sum(millionths) + Math.floor(sum(rests) / 1_000_000_000_000);
    const rest = String(sum(rests) % 1_000_000_000_000).padStart(12, '0');
    expect(millionth).toBeGreaterThan(2 ** 44);
    expect(shown(state, NOW, options)['penalties_ether']).toBe(Number(`${millionth}${rest}e-18`));
    expect(state.rewards[0]?.sums.penalties).toBe(`${millionth}${rest}`);
  });

  it.each<[string, object, readonly string[]]>([
    ['attestation', { attestation: null }, ['rewards_ether attestation', 'missed_rewards_ether attestation']],
    ['a vote', { attestation: { total: '5', head: null } }, ['missed_rewards_ether attestation']],
    [
      'proposal',
      { proposal: undefined },
      ['rewards_ether proposal', 'missed_rewards_ether proposal', 'execution_rewards_ether'],
    ],
    ['penalty', { total_penalty: null }, ['penalties_ether']],
    ['sync committee', { sync_committee: {} }, ['rewards_ether sync_committee', 'missed_rewards_ether sync_committee']],
  ])('without %s in one answer have no such series, for nobody knows the sum', async (_, lacking, absent) => {
    const { value: state, failure } = await poll(rewarding(rewardsAnswer(), rewardsAnswer(lacking)), undefined, MANY);
    expect(failure).toBeUndefined();
    const { value: whole } = await poll(serviceOf(), undefined, MANY);
    const expected = Object.keys(shown(whole)).filter((series) => !absent.includes(series));
    expect(Object.keys(shown(state))).toEqual(expected);
  });

  it.each<[string, unknown]>([
    ['an epoch in the future', rewardsAnswer({}, 444_379)],
    ['no epoch', { data: {} }],
    ['a number for wei', rewardsAnswer({ total_penalty: 6 })],
    ['a fraction of a wei', rewardsAnswer({ total_penalty: '0.5' })],
    ['a negative penalty', rewardsAnswer({ total_penalty: '-6' })],
  ])('of an answer with %s are not used', async (_, answer) => {
    const { value: state, failure } = await poll(rewarding(answer, answer), undefined, MANY);
    expect(failure).toMatchObject({ endpoint: 'validators_rewards', reason: 'invalid_body' });
    expect(shown(state)).toEqual({});
  });

  it.each(['forbidden', 'invalid_body', 'server_error'] as const)(
    'are read although the status or the performance fails (%s)',
    async (reason) => {
      for (const endpoint of ['validators', 'validators_performance'] as const) {
        const api = serviceOf({ [endpoint]: failing(reason) });
        const { value: state, failure } = await poll(api, undefined, MANY);
        expect(failure).toMatchObject({ endpoint });
        expect(Object.keys(shown(state))).toHaveLength(9);
      }
    },
  );

  it('are neither requested nor shown if they are off', async () => {
    const off = { ...MANY, rewards: false };
    const api = serviceOf();
    const { value: known } = await poll(serviceOf(), undefined, MANY);
    const { value: state } = await poll(api, known, off, NOW + EPOCH);
    expect(sizes(api)).toEqual([]);
    expect(shown(state, NOW + EPOCH, off)).toEqual({});
  });
});
