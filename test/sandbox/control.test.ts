import { expect, it } from 'vitest';
import { epochAt, epochTime } from '../../src/facts/chain.ts';
import { blockRewards, recipientOf } from '../../src/sandbox/blocks.ts';
import { control } from '../../src/sandbox/control.ts';
import { BLOCK_NUMBER_OFFSET } from '../../src/sandbox/v1.ts';
import { validatorAt } from '../../src/sandbox/validator.ts';
import { Sandbox } from '../../src/sandbox/world.ts';
import { HOUR, NOW } from '../support/time/timing.ts';

function order(path: string, method = 'POST') {
  const watched = { validators: { mainnet: [12], hoodi: [] }, slots: 8 };
  const sandbox = new Sandbox({ watched });
  return { sandbox, result: control(sandbox, { method, path }, NOW) };
}

it('silences a machine and wakes it', () => {
  const { sandbox, result } = order('/-/silence?machine=node-a');
  expect(result).toMatchObject({ status: 200, body: 'node-a has stopped pushing\n' });
  const always = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
  expect(sandbox.fleet.machines.get('node-a')?.spans).toEqual([{ ...always, until: NOW }]);
  control(sandbox, { method: 'POST', path: '/-/wake?machine=node-a' }, NOW + 1);
  expect(sandbox.fleet.machines.get('node-a')?.spans.slice(1)).toEqual([{ ...always, from: NOW + 1 }]);
});

it.each([
  ['/-/slash?chain=hoodi&validators=7,9', 'hoodi', 'attester', [7, 9]],
  ['/-/slash?offence=proposer&validators=7', 'mainnet', 'proposer', [7]],
] as const)('%s slashes validators of %s as %s', (path, chain, offence, validators) => {
  const { sandbox, result } = order(path);
  expect(result?.body).toMatch(new RegExp(`^slot \\d+ of ${chain} slashes ${validators.join(', ')}\n$`));
  expect([...sandbox.chains[chain].slashed[offence].values()]).toEqual([validators]);
});

it('lets a validator miss its proposal', () => {
  const { sandbox, result } = order('/-/miss-proposal?chain=hoodi&validator=7');
  expect(result?.body).toMatch(/^validator 7 of hoodi misses slot \d+, which is final in 7 to 13 minutes\n$/);
  expect([...sandbox.chains.hoodi.missed.values()]).toEqual([7]);
});

it.each([
  ['9', '0x00', '0x01'],
  ['12', '0x01', '0x02'],
])('changes the credentials of validator %s from %s to %s, from the next epoch on', (index, from, to) => {
  const { sandbox, result } = order(`/-/change-credentials?validator=${index}`);
  expect(result?.body).toMatch(
    new RegExp(`^the credentials of validator ${index} of mainnet change from ${from} to ${to}`),
  );
  const of = (epoch: number) => validatorAt(sandbox.chains.mainnet, Number(index), epoch)?.credentials;
  const epoch = epochAt('mainnet', NOW);
  expect(of(epoch)).toMatchObject({ prefix: from });
  expect(of(epoch + 1)).toMatchObject({ prefix: to, address: expect.stringMatching(/^0x[0-9a-f]{40}$/) });
});

it('lets the next block of a watched validator pay a stranger', () => {
  const { sandbox, result } = order('/-/redirect-fees');
  const [, slot] = /^slot (\d+) of mainnet, of validator 12, pays a stranger/.exec(result?.body ?? '') ?? [];
  const paidIn = (at: number): unknown => {
    const asked = { chain: 'mainnet', block: { number: at + BLOCK_NUMBER_OFFSET } } as const;
    return JSON.parse(blockRewards(sandbox, asked, NOW + HOUR)).data.total_reward.recipient.address;
  };
  const own = recipientOf(sandbox.chains.mainnet, 12);
  expect(paidIn(Number(slot))).not.toBe(own);
  sandbox.chains.mainnet.redirected.clear();
  expect(paidIn(Number(slot))).toBe(own);
});

it('lets a validator miss whole epochs from the next one on', () => {
  const { sandbox, result } = order('/-/miss?validator=12&epochs=3');
  const next = epochAt('mainnet', NOW) + 1;
  expect(result?.body).toContain(`misses the attestations of epochs ${next} to ${next + 2}: `);
  const [from, until] = [next, next + 3].map((epoch) => epochTime('mainnet', epoch) * 1000);
  expect(sandbox.chains.mainnet.silences).toEqual([{ validator: 12, from, until }]);
});

it.each([
  ['/-/slash?validators=12', /^slot \d+ of mainnet slashes 12\n$/, 'validator 12 of mainnet is slashed already\n'],
  ['/-/offline?validator=12', /^validator 12 of mainnet stops/, 'validator 12 of mainnet is offline already\n'],
  [
    '/-/change-credentials?validator=9',
    /from 0x00 to 0x01/,
    'the credentials of validator 9 of mainnet change to 0x01 already\n',
  ],
  ['/-/miss?validator=12&epochs=3', /epochs \d+ to/, /epochs \d+ to/],
  ['/-/miss-proposal?validator=12', /misses slot \d+/, /misses slot \d+/],
  ['/-/redirect-fees', /pays a stranger/, /pays a stranger/],
  ['/-/fill-disk?machine=node-a', /is almost full/, /is almost full/],
])('a second %s changes nothing', (path, first, second) => {
  const { sandbox, result } = order(path);
  expect(result?.body).toMatch(first);
  const { mainnet } = sandbox.chains;
  const ordered = () => {
    const { slashed, missed, silences, changes, redirected } = mainnet;
    return structuredClone([slashed, missed, silences, changes, redirected, sandbox.fleet.machines]);
  };
  const before = ordered();
  for (const again of [path, path.replace('slash?', 'slash?offence=proposer&')])
    expect(control(sandbox, { method: 'POST', path: again }, NOW + 1_000)?.body).toMatch(second);
  expect(ordered()).toEqual(before);
});

it('lists every order on its first page, in a form that works', () => {
  const { body = '', status } = order('/', 'GET').result ?? {};
  const paths = [...body.matchAll(/^POST (\S+) {2,}\S/gm)].map(([, path = '']) => path);
  expect([status, paths.length]).toEqual([200, body.trimEnd().split('\n').length - 1]);
  for (const path of paths) expect(order(path).result).toMatchObject({ status: 200 });
  const { body: unknown = '' } = order('/-/x').result ?? {};
  expect(unknown.match(/\/-\/[a-z-]+/g)?.slice(1)).toEqual(paths.map((path) => path.replace(/\?.*/, '')));
});

it.each([
  ['/-/offline?validator=12', /20 minutes\n$/],
  ['/-/offline?validator=13', /20 minutes\. Only a watched validator causes an alert, such as 12\n$/],
  ['/-/miss-proposal?validator=13', /13 minutes\. Only a watched validator causes/],
])('names a validator that causes an alert if %s does not', (path, body) => {
  expect(order(path).result?.body).toMatch(body);
});

it.each([
  ['/-/slience?machine=node-a', 404, /^unknown order \/-\/slience, expected one of \/-\/silence, /],
  ['/-/silence', 400, /^machine: expected one of node-a, /],
  ['/-/slash?validators=1,x', 400, /^validators: expected an index/],
  ['/-/slash?validators=1&offence=theft', 400, /^offence: expected attester or proposer/],
  ['/-/miss?validator=1&epochs=226', 400, /^epochs: expected a number from 1 to 225/],
  ['/-/miss-proposal?validator=x', 400, /^validator: expected an index/],
  ['/-/offline?validator=2000000', 400, /^validator: expected an index such as 12345, below 2000000/],
])('says what was expected instead of %s', (path, status, body) => {
  expect(order(path).result).toMatchObject({ status, body: expect.stringMatching(body) });
});

it('takes only POST, and leaves other paths to the API', () => {
  expect(order('/-/revoke', 'GET').result?.status).toBe(405);
  expect(order('/api/v2/machine-metrics').result).toBeUndefined();
});
