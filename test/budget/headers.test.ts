import { describe, expect, it } from 'vitest';
import { isRevoked, readHeaders } from '../../src/budget/headers.ts';
import { DOCUMENTED_HEADERS } from '../support/answers/documented-headers.ts';
import { NOW } from '../support/time/timing.ts';

const SILENCE = { bucket: undefined, limits: {}, remaining: {}, resetSeconds: undefined, validKey: undefined };

it.each(['', ' ', '-1', '1.5', '1e3', '0x10', 'NaN', 'unlimited', '9'.repeat(16)])(
  'treats the count %j as missing',
  (text) => {
    const headers = { 'x-ratelimit-limit-second': text, 'x-ratelimit-remaining-second': text };
    expect(readHeaders(headers, NOW)).toEqual(SILENCE);
  },
);

it('takes the first value of a repeated header, and none from an empty list', () => {
  const headers = { 'x-ratelimit-limit-second': ['2', '5'], 'ratelimit-bucket': [' app ', 'default'] };
  expect(readHeaders(headers, NOW)).toEqual({ ...SILENCE, bucket: 'app', limits: { second: 2 } });
  expect(readHeaders({ 'x-ratelimit-limit-second': [] }, NOW)).toEqual(SILENCE);
});

it('reduces the name of a bucket to 32 letters, digits, _ and -', () => {
  const named = (text: string): string | undefined => readHeaders({ 'ratelimit-bucket': text }, NOW).bucket;
  expect(named(`v1:a b\u0007\u202e_-${'x'.repeat(99)}`)).toBe(`v1ab_-${'x'.repeat(26)}`);
  for (const text of ['\u202e', '::', ':constructor', '__proto__']) expect(named(text)).toBeUndefined();
});

describe('the wait', () => {
  const inTenSeconds = new Date(NOW + 10_000).toUTCString();

  it.each([
    [{ 'ratelimit-reset': '36644' }, 36_644],
    [{ 'retry-after': '7' }, 7],
    [{ 'retry-after': inTenSeconds }, 10],
    [{ 'ratelimit-reset': '3', 'retry-after': '60' }, 60],
    [{ 'ratelimit-reset': '60', 'retry-after': '3' }, 60],
    [{ 'ratelimit-reset': 'soon', 'retry-after': '3' }, 3],
  ])('that %j ask for is %d s', (headers, seconds) => {
    expect(readHeaders(headers, NOW).resetSeconds).toBe(seconds);
  });

  it.each(['', '-5', 'soon', '1e3', 'Infinity', '2026-12-01T00:00:00Z', 'Xxx, 99 Yyy 2026', String(32 * 86_400 + 1)])(
    'that %j asks for counts as missing',
    (text) => {
      expect(readHeaders({ 'ratelimit-reset': text, 'retry-after': text }, NOW).resetSeconds).toBeUndefined();
    },
  );
});

it("reads a date as a wait by the service's clock, and ignores one in the past or over 32 days ahead", () => {
  for (const ms of [-1_000, 33 * 86_400_000]) {
    const past = { 'retry-after': new Date(NOW + ms).toUTCString() };
    expect(readHeaders(past, NOW).resetSeconds).toBeUndefined();
  }
  const headers = { date: new Date(NOW).toUTCString(), 'retry-after': new Date(NOW + 10_000).toUTCString() };
  for (const ms of [-9_000_000, 0, 9_000_000]) expect(readHeaders(headers, NOW + ms).resetSeconds).toBe(10);
  expect(readHeaders({ ...headers, date: 'today' }, NOW).resetSeconds).toBe(10);
});

describe('revocation', () => {
  const zeros = Object.fromEntries(
    Object.keys(DOCUMENTED_HEADERS).flatMap((name) => (name.startsWith('x-ratelimit-limit') ? [[name, '0']] : [])),
  );

  it('is a 429 with at least one limit, if every limit is 0', () => {
    expect(isRevoked(429, { ...DOCUMENTED_HEADERS, ...zeros, 'retry-after': '36644' })).toBe(true);
    expect(isRevoked(429, { 'x-ratelimit-limit-hour': '0' })).toBe(true);
    for (const headers of [{}, { 'ratelimit-limit': '0', 'ratelimit-reset': '0' }, { 'x-ratelimit-limit-hour': '' }])
      expect(isRevoked(429, headers)).toBe(false);
    expect(isRevoked(429, { ...zeros, 'x-ratelimit-limit-second': '1' })).toBe(false);
    for (const status of [200, 401, 403, 500]) expect(isRevoked(status, zeros)).toBe(false);
  });
});
