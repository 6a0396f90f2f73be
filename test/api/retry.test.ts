import { describe, expect, it } from 'vitest';
import type { FailureReason } from '../../src/api/errors.ts';
import { retryDelay } from '../../src/api/retry.ts';

describe('api/retry', () => {
  it.each<FailureReason>(['network', 'timeout', 'server_error'])(
    'backs off twice after %s, at least half of 1 and 2 s',
    (reason) => {
      expect([1, 2, 3].map((failures) => retryDelay(reason, failures, 0))).toEqual([500, 1_000, undefined]);
      expect([1, 2, 3].map((failures) => retryDelay(reason, failures, 1))).toEqual([1_000, 2_000, undefined]);
    },
  );

  it('leaves the wait after a 429 to the budget, twice', () => {
    expect([1, 2, 3].map((failures) => retryDelay('rate_limited', failures, 0.5))).toEqual([0, 0, undefined]);
  });

  it.each<FailureReason>([
    'bad_request',
    'unauthorized',
    'forbidden',
    'not_found',
    'method_not_allowed',
    'revoked',
    'unexpected_status',
    'invalid_body',
  ])('never tries again after %s', (reason) => {
    expect(retryDelay(reason, 1, 0)).toBeUndefined();
  });
});
