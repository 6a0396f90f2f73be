import { describe, expect, it } from 'vitest';
import { RequestFailed } from '../../src/api/errors.ts';
import { expectOk } from '../../src/api/status.ts';

function reasonOf(status: number, headers: Record<string, string> = {}): string {
  const unread = (): never => {
    throw new Error('the body decides nothing');
  };
  try {
    expectOk('sync_committee', { status, headers, body: unread, discard: () => undefined });
    return 'ok';
  } catch (error) {
    if (error instanceof RequestFailed && error.status === status) return error.reason;
    throw error;
  }
}

describe('api/status', () => {
  it('accepts 200 alone', () => {
    expect(reasonOf(200)).toBe('ok');
    for (const status of [201, 204, 206, 304]) expect(reasonOf(status)).toBe('unexpected_status');
  });

  it('gives every status of the specification a reason (api-facts 7.3)', () => {
    expect([400, 401, 403, 404, 405, 429, 500].map((status) => reasonOf(status))).toEqual([
      'bad_request',
      'unauthorized',
      'forbidden',
      'not_found',
      'method_not_allowed',
      'rate_limited',
      'server_error',
    ]);
    for (const status of [501, 502, 503, 504, 522]) expect(reasonOf(status)).toBe('server_error');
    for (const status of [301, 302, 307, 402, 409, 418, 451]) expect(reasonOf(status)).toBe('unexpected_status');
  });

  it('tells a revoked access from a limit by the headers (api-facts 6.1)', () => {
    expect(reasonOf(429, { 'x-ratelimit-limit-month': '0' })).toBe('revoked');
    expect(reasonOf(429, { 'x-ratelimit-limit-month': '0', 'x-ratelimit-limit-second': '1' })).toBe('rate_limited');
    expect(reasonOf(200, { 'x-ratelimit-limit-month': '0' })).toBe('ok');
    expect(reasonOf(401, { 'x-ratelimit-limit-month': '0' })).toBe('unauthorized');
  });
});
