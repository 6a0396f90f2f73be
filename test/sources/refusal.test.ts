import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../src/api/endpoints.ts';
import { type FailureReason, RequestFailed } from '../../src/api/errors.ts';
import { afterFailure, isRefusal, refusedUntil as refusedUntilOf } from '../../src/sources/refusal.ts';
import { answering } from '../support/answers/fake-api.ts';
import { DAY, HOUR, MINUTE, NOW, noSignal, timing } from '../support/time/timing.ts';

const PART = 'proposer_slashings';

type Attempt = readonly [at: number, reason: FailureReason];

type State = Parameters<typeof afterFailure>[2];

/** The state after these failures. */
function knownAfter(...attempts: readonly Attempt[]): State {
  return attempts.reduce<State>((before, [now, reason]) => {
    // The time of the answer counts: its poll may have begun long before, and have waited for the budget.
    const api = { ...answering({}), now: () => now };
    const context = { api, timing: timing({ now: NOW - DAY }), signal: noSignal(), events: [] };
    return afterFailure(context, PART, before, new RequestFailed(PART, reason, 'made up')).value;
  }, {});
}

function refusedUntil(state: State): number {
  return refusedUntilOf(state, PART);
}

/** Failures with 400 at these times. */
function bad(...times: readonly number[]): Attempt[] {
  return times.map((at) => [at, 'bad_request']);
}

describe('sources/refusal', () => {
  it.each<FailureReason>(['forbidden', 'not_found', 'method_not_allowed'])(
    '%s refuses at the second attempt at least ten minutes later, for a day',
    (reason) => {
      const later = NOW + 10 * MINUTE;
      expect(refusedUntil(knownAfter([NOW, reason]))).toBe(0);
      expect(refusedUntil(knownAfter([NOW, reason], [later - 1, reason]))).toBe(0);
      expect(refusedUntil(knownAfter([NOW, reason], [later, reason]))).toBe(later + DAY);
      expect(refusedUntil(knownAfter([NOW, reason], [later, 'forbidden']))).toBe(later + DAY);
      expect(refusedUntil(knownAfter([NOW, 'bad_request'], [later, reason]))).toBe(0);
    },
  );

  it.each<[Endpoint, FailureReason, boolean]>([
    ['proposer_slashings', 'bad_request', true],
    ['validators', 'bad_request', false],
    ['machine_names', 'bad_request', false],
    ['network_performance', 'bad_request', false],
    ['queues', 'bad_request', false],
    ['machine_names', 'not_found', true],
    ['sync_committee_members', 'not_found', true],
    ['validators', 'not_found', false],
    ['validators_performance', 'not_found', false],
    ['validators_performance', 'forbidden', true],
    ['validators_rewards', 'not_found', false],
    ['validators_rewards', 'forbidden', true],
    ['validators_rewards', 'bad_request', false],
    ['validators', 'unexpected_status', false],
  ])('%s: %s is a refusal: %s', (endpoint, reason, is) => {
    expect(isRefusal(new RequestFailed(endpoint, reason, 'made up'))).toBe(is);
  });

  it.each<[string, Attempt[]]>([
    ['one', bad(NOW)],
    ['two over an hour', bad(NOW, NOW + HOUR)],
    ['three within less than an hour', bad(NOW, NOW + MINUTE, NOW + HOUR - 1)],
    ['a hundred within less than an hour', bad(...Array.from({ length: 100 }, (_, i) => NOW + i * 1_000))],
  ])('400 may pass: %s', (_, attempts) => {
    expect(refusedUntil(knownAfter(...attempts))).toBe(0);
  });

  it('400 refuses at the third attempt over an hour, for a day', () => {
    expect(refusedUntil(knownAfter(...bad(NOW - HOUR, NOW - MINUTE, NOW)))).toBe(NOW + DAY);
  });

  it.each<FailureReason>(['server_error', 'timeout', 'network', 'rate_limited', 'unauthorized', 'invalid_body'])(
    '%s is no refusal, and ends none',
    (reason) => {
      expect(knownAfter([NOW, reason])).toEqual({});
      expect(knownAfter([NOW, 'forbidden'], [NOW + DAY, reason])).toEqual(knownAfter([NOW, 'forbidden']));
    },
  );

  it('the attempt a day later refuses at once for another day, with 400 too', () => {
    const later = NOW + 2 * HOUR + DAY;
    expect(refusedUntil(knownAfter(...bad(NOW, NOW + HOUR, NOW + 2 * HOUR, later)))).toBe(later + DAY);
  });
});
