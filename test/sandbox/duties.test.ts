import { expect, it } from 'vitest';
import { performanceAnswer, rewardsAnswer } from '../../src/sandbox/duties.ts';
import { dutiesIn } from '../../src/sandbox/epoch-duties.ts';
import { rewardsFor, scoresOf } from '../../src/sandbox/rewards.ts';
import { validatorAt } from '../../src/sandbox/validator.ts';
import { ETHER, GWEI, type Validator } from '../../src/sandbox/validators-world.ts';
import { DAY, HOUR, NOW, order, pagesOf, post, read, sandboxOf } from './call.ts';

const ETHEREUM = '/api/v2/ethereum';
const REWARDS = `${ETHEREUM}/validators/rewards-aggregate`;
const PERFORMANCE = `${ETHEREUM}/validators/performance-aggregate`;

function about(...validator_identifiers: readonly number[]) {
  return { chain: 'mainnet', validator: { validator_identifiers }, range: { evaluation_window: '24h' } } as const;
}

/** Adds up every number and amount of some answers, by its path. Ratios are left out. */
function sumsOf(answers: readonly object[]): Record<string, bigint> {
  const sums: Record<string, bigint> = {};
  const add = (value: unknown, path: string): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [key, one] of Object.entries(value)) add(one, `${path}.${key}`);
    } else if (/^-?\d+$/.test(String(value))) sums[path] = (sums[path] ?? 0n) + BigInt(value as string);
  };
  for (const answer of answers) add(answer, '');
  return sums;
}

it('sums of 24 hours are those of 225 epochs, to the wei', () => {
  const watched = { validators: { mainnet: [3], hoodi: [] }, slots: 8 };
  const sandbox = sandboxOf({ watched });
  const world = sandbox.chains.mainnet;
  const { range } = read(sandbox, REWARDS, about(3));
  expect(range.epoch.end - range.epoch.start).toBe(224);
  const epochs = Array.from({ length: 225 }, (_, i): number => range.epoch.start + i);
  // One is away for hours, one is large and joined at noon, one is slashed and gone, and a block is missed.
  const drawn = validatorAt(world, 5, 0) as Validator;
  const life = { ...drawn.life, activation: range.epoch.start + 112 };
  world.validators.push({ ...drawn, life, balances: { current: 2_048n * ETHER, effective: 2_048n * ETHER } });
  world.silences.push({ validator: 3, from: NOW - 9 * HOUR, until: NOW - 3 * HOUR });
  world.slashed.attester.set(range.slot.start + 100, [6, 7]);
  world.missed.set(range.slot.start + 200, 3);

  const asked = about(3, 4, 5, 6);
  const validators = [3, 4, 5, 6].map((index) => validatorAt(world, index, range.epoch.end) as Validator);
  const byEpoch = epochs.map((epoch) => dutiesIn(world, validators, epoch));
  const each = byEpoch.flatMap((duties) =>
    duties.map((one, i) => ({ one, rewards: rewardsFor(one, validators[i]?.balances.effective ?? 0n) })),
  );
  const counted = each.map(({ one, rewards }) => performanceAnswer(one, scoresOf(rewards), range).data.duties);
  const performance = sumsOf([read(sandbox, PERFORMANCE, asked).data.duties]);
  for (const [path, sum] of Object.entries(sumsOf(counted)))
    if (!path.includes('avg_')) expect([path, performance[path]]).toEqual([path, sum]);
  const earned = sumsOf([read(sandbox, REWARDS, asked).data]);
  expect(earned).toEqual(sumsOf(each.map(({ rewards }) => rewardsAnswer(rewards, range).data)));

  // Epoch by epoch they are the rows of both lists. A validator without a duty has none.
  const lists = epochs.flatMap((epoch) => {
    const { range: _, ...query } = asked;
    const pages = ['performance', 'rewards'].map((kind) =>
      read(sandbox, `${ETHEREUM}/validators/${kind}-list`, { ...query, epoch, page_size: 10 }),
    );
    for (const page of pages) expect(page.range.epoch).toEqual({ start: epoch, end: epoch });
    return pages.flatMap((page): Record<string, unknown>[] => page.data);
  });
  for (const row of lists) delete row['validator'];
  expect(lists).toHaveLength(2 * (225 + 225 + 113 + 8));
  expect(sumsOf(lists.filter((row) => !('duties' in row)))).toEqual(earned);
  const sums = Object.entries(sumsOf(lists.flatMap(({ duties }) => (duties ? [duties] : []))));
  expect(Object.fromEntries(sums.filter(([path]) => !path.includes('avg_')))).toEqual(performance);

  // The validators had and missed duties of each kind.
  for (const duty of ['attestation', 'proposal', 'sync_committee'])
    expect([duty, performance[`.${duty}.missed`]]).not.toEqual([duty, 0n]);
  expect(performance['.attestation.assigned']).toBe(BigInt(225 + 225 + 113 + 8));
  expect(earned['.total']).toBe((earned['.total_reward'] ?? 0n) - (earned['.total_penalty'] ?? 0n));
});

it('a correct vote earns as in published samples, in proportion to the balance', () => {
  const sandbox = sandboxOf();
  const drawn = validatorAt(sandbox.chains.mainnet, 5, 0) as Validator;
  sandbox.chains.mainnet.validators.push({ ...drawn, balances: { current: 0n, effective: 2_048n * ETHER } });
  for (const [validator, gwei] of [
    [4, 2_408n],
    [5, 64n * 2_408n],
  ] as const) {
    const { attestation } = read(sandbox, PERFORMANCE, about(validator)).data.duties;
    const { head } = read(sandbox, REWARDS, about(validator)).data.attestation;
    const missed = 225 - attestation.valuable_correct_head;
    expect(missed).toBeGreaterThan(0);
    expect(head).toEqual({
      total: head.reward,
      reward: String(BigInt(225 - missed) * gwei * GWEI),
      penalty: '0',
      missed_reward: String(BigInt(missed) * gwei * GWEI),
    });
  }
});

it('a validator that is offline misses every attestation from then on', () => {
  const sandbox = sandboxOf();
  order(sandbox, '/-/offline?validator=3');
  const { beaconscore, duties } = read(sandbox, PERFORMANCE, about(3), NOW + 2 * DAY).data;
  expect(beaconscore).toEqual({ total: 0, attestation: 0, proposal: null, sync_committee: null });
  expect(duties.attestation).toMatchObject({ included: 0, missed: 225, avg_inclusion_delay: null });
  const { total_reward, total_penalty, total_missed } = read(sandbox, REWARDS, about(3), NOW + 2 * DAY).data;
  expect([total_reward, Number(total_penalty) > 0, Number(total_missed) > 0]).toEqual(['0', true, true]);
});

it('a validator without duties has no rewards', () => {
  const sandbox = sandboxOf();
  const drawn = validatorAt(sandbox.chains.mainnet, 5, 0) as Validator;
  sandbox.chains.mainnet.validators.push({ ...drawn, life: { ...drawn.life, exit: 300_000, withdrawable: 300_256 } });
  expect(post(sandbox, REWARDS, about(5)).status).toBe(404);
  expect(read(sandbox, PERFORMANCE, about(5)).data.beaconscore.total).toBeNull();
});

it.each(['performance', 'rewards'])('an epoch that is not final has no %s, and pages follow each other', (kind) => {
  const sandbox = sandboxOf();
  const list = `${ETHEREUM}/validators/${kind}-list`;
  const { range: _, ...query } = about(...Array.from({ length: 12 }, (_, i) => i + 1));
  const { epoch } = read(sandbox, REWARDS, about(3)).range;
  expect(post(sandbox, list, { ...query, epoch: epoch.end + 1 }).status).toBe(404);
  const pages = pagesOf((body, now) => read(sandbox, list, body, now), { ...query, epoch: epoch.end });
  const rows = pages.map(({ data }) => data.map((row: { validator: { index: number } }) => row.validator.index));
  expect(rows).toEqual([
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    [11, 12],
  ]);
});
