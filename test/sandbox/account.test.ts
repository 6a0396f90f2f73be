import { expect, it } from 'vitest';
import {
  type Account,
  type AccountOptions,
  charge,
  createAccount,
  refund,
  spend,
  usedOfMonth,
} from '../../src/sandbox/account.ts';
import { DOCUMENTED_HEADERS } from '../support/answers/documented-headers.ts';
import { DAY, get, HOUR, NOW, SECOND, sandboxOf } from './call.ts';

const NAMES = Object.keys(DOCUMENTED_HEADERS);
const EXTENDED = NAMES.filter((name) => name.startsWith('x-'));
const BASIC = NAMES.filter((name) => !EXTENDED.includes(name));
const PATH = '/api/v1/slot/1/attesterslashings';

function accountOf(options: AccountOptions = {}): Account {
  return createAccount({ key: 'k', plan: { perSecond: 1 }, ...options });
}

function asked(account: Account, now = NOW, { key = 'k', path = PATH } = {}) {
  const authorization = `Bearer ${key}`;
  return charge(account, { path, headers: path.startsWith('/api/v1/') ? { apikey: key } : { authorization } }, now);
}

it('refunds a 429 in the month, and reports the month before the second until the UTC month ends', () => {
  const account = accountOf({ plan: { perSecond: 1, perMonth: 3 } });
  const refusals = [0, 1, 1000, 2000, 3000].map((time) => asked(account, NOW + time).refusedBy);
  expect(refusals).toEqual([undefined, 'second', undefined, undefined, 'month']);
  const end = Date.UTC(2025, 11, 1);
  const { refusedBy, headers } = asked(account, NOW + 3001);
  expect(refusedBy).toBe('month');
  const reset = String(Math.floor((end - NOW - 3001) / 1000));
  expect(headers).toMatchObject({
    'ratelimit-limit': '3',
    'ratelimit-remaining': '0',
    'ratelimit-window': 'month',
    'ratelimit-reset': reset,
    'retry-after': reset,
    'x-ratelimit-remaining-month': '0',
  });
  expect(asked(account, end - 1).refusedBy).toBe('month');
  expect(asked(account, end).headers['x-ratelimit-remaining-month']).toBe('2');
});

it('limits an hour of the clock, which is reported before the second and repeated by the minute', () => {
  const account = accountOf({ plan: { perSecond: 1, perHour: 2, perMonth: 9 } });
  spend(account, 2, NOW + 10 * SECOND);
  const { refusedBy, headers } = asked(account, NOW + 10 * SECOND);
  expect(refusedBy).toBe('hour');
  expect(headers).toMatchObject({
    'ratelimit-limit': '2',
    'ratelimit-window': 'hour',
    'retry-after': '3590',
    'x-ratelimit-limit-second': '1',
    'x-ratelimit-limit-minute': '2',
    'x-ratelimit-limit-hour': '2',
    'x-ratelimit-limit-day': '9',
    'x-ratelimit-limit-month': '9',
  });
  expect(asked(account, NOW + HOUR - 1).refusedBy).toBe('hour');
  expect(asked(account, NOW + HOUR).headers['x-ratelimit-remaining-hour']).toBe('1');
});

it('a second begins with its first request, and counts refused ones', () => {
  const account = accountOf();
  const at = [0, 999, 999, 1000, 1999, 2000];
  expect(at.map((time) => asked(account, NOW + 700 + time).refusedBy === undefined)).toEqual([
    ...[true, false, false],
    ...[true, false, true],
  ]);
  // A clock that was set back.
  expect(asked(account, NOW - DAY).refusedBy).toBeUndefined();
});

it('a month may be thirty days from the first request on', () => {
  const account = accountOf({ plan: { perSecond: 9, perMonth: 2 }, month: 'thirty_days' });
  spend(account, 2, NOW);
  expect(asked(account, NOW + 30 * DAY - 1).headers).toMatchObject({
    'retry-after': '0',
    'ratelimit-window': 'month',
  });
  expect(asked(account, NOW + 30 * DAY).refusedBy).toBeUndefined();
  expect(usedOfMonth(account, NOW + 30 * DAY)).toBe(1);
});

it.each<[Account['buckets'], string[]]>([
  ['one', ['default', 'default', 'default', 'default']],
  ['version', ['default', 'default', 'oldsubnewapi', 'oldsubnewapi']],
  ['endpoint', ['slot_attesterslashings', 'epoch_slots', 'machine-metrics', 'ethereum_queues']],
])('counts in buckets by %s, and others spend in all of them', (buckets, names) => {
  const account = accountOf({ buckets, plan: { perSecond: 1, perMonth: 1_000 } });
  const paths = [PATH, '/api/v1/epoch/latest/slots', '/api/v2/machine-metrics', '/api/v2/ethereum/queues'];
  const charges = paths.map((path) => asked(account, NOW, { path }));
  expect(charges.map(({ bucket }) => bucket)).toEqual(names);
  const isFirst = (name: string, i: number): boolean => names.indexOf(name) === i;
  expect(charges.map(({ refusedBy }) => refusedBy === undefined)).toEqual(names.map(isFirst));
  expect([...account.usage.keys()]).toEqual(names.filter(isFirst));
  spend(account, 5, NOW);
  for (const { month } of account.usage.values()) expect(month?.used).toBe(6);
});

it('counts callers without a valid key separately, with their own limit', () => {
  const account = accountOf();
  const strangers = [0, 0, 0].map((time) => asked(account, NOW + time, { key: 'other' }));
  expect(strangers.map(({ isKeyValid, refusedBy }) => [isKeyValid, refusedBy])).toEqual([
    [false, undefined],
    [false, undefined],
    [false, 'second'],
  ]);
  expect(strangers[0]?.headers).toMatchObject({ 'ratelimit-validapikey': 'false', 'ratelimit-limit': '2' });
  expect(asked(account).refusedBy).toBeUndefined();
  expect(usedOfMonth(account, NOW)).toBe(1);
});

it('refunds a failed request in the hour and the month', () => {
  const account = accountOf({ plan: { perSecond: 2, perHour: 9, perMonth: 9 } });
  refund(asked(account));
  const { headers } = asked(account);
  expect(['second', 'hour', 'month'].map((window) => headers[`x-ratelimit-remaining-${window}`])).toEqual([
    ...['0', '8', '8'],
  ]);
});

it.each<[Account['headers']['sent'], string[], string[], without?: string[]]>([
  ['none', [], []],
  ['fallback', [], ['ratelimit-limit', 'ratelimit-reset']],
  ['basic', BASIC, [...BASIC, 'retry-after']],
  ['extended', EXTENDED, EXTENDED],
  ['all', [...BASIC, ...EXTENDED], [...BASIC, 'retry-after', ...EXTENDED]],
  ['basic', BASIC.slice(1), [...BASIC.slice(1), 'retry-after'], BASIC.slice(0, 1)],
])('may send %s of the headers: %j, after a refusal %j', (sent, answered, refused, without = []) => {
  const account = accountOf({ headers: { sent, without } });
  const namesOf = () => Object.keys(asked(account).headers).toSorted();
  expect([namesOf(), namesOf()]).toEqual([answered.toSorted(), refused.toSorted()]);
});

it('answers a revoked key with 429, five limits of 0 and an unusable reset, whatever headers it sends', () => {
  const sandbox = sandboxOf({ plan: 'scale', headers: { sent: 'none', without: [] } });
  sandbox.account.isRevoked = true;
  const { status, headers } = get(sandbox, PATH);
  expect(status).toBe(429);
  for (const window of ['second', 'minute', 'hour', 'day', 'month'])
    expect(headers[`x-ratelimit-limit-${window}`], window).toBe('0');
  expect(headers['retry-after']).toBe(headers['ratelimit-reset']);
  expect(Number(headers['ratelimit-reset'])).toBeGreaterThan(86_400);
  expect(asked(sandbox.account, NOW, { key: sandbox.account.key }).refusedBy).toBe('revoked');
  expect(get(sandbox, PATH, NOW + 30 * DAY).status).toBe(429);
  sandbox.account.isRevoked = false;
  expect(get(sandbox, PATH, NOW + 30 * DAY).status).toBe(200);
});
