import { describe, expect, it } from 'vitest';
import type { FailureReason } from '../../../src/api/errors.ts';
import {
  asked,
  due,
  endOf,
  KNOWN,
  membersAnswer,
  membersOptions,
  NOT_KNOWN_YET,
  NOW,
  PERIOD,
  poll,
  SOURCE,
  serviceOf,
  shown,
  sourceOf,
  stateAfter,
} from '../../support/committees.ts';
import { failed } from '../../support/fake-api.ts';
import { DAY, HOUR, MINUTE, timing } from '../../support/timing.ts';

describe('sources/sync-committee/members', () => {
  it('asks for the current committee by its number and for the next one, at the host of v1', async () => {
    const api = serviceOf(KNOWN);
    await poll(api);
    expect(asked(api.requests)).toEqual(['sync-committee', '1700', 'next']);
    expect(api.requests[1]).toEqual({
      endpoint: 'sync_committee_members',
      priority: 'sync_committee',
      chain: 'mainnet',
      path: '/api/v1/sync_committee/1700',
    });
  });

  it('shows watched members alone, each once however many seats it holds', async () => {
    expect(shown(await stateAfter(KNOWN))).toEqual({ current: ['7', '12', '99'], next: ['3'] });
  });

  it('shows that none is a member, which is not the same as nothing known', async () => {
    expect(shown(await stateAfter({ committees: { 1700: [500_000] } }))).toEqual({ current: [], next: undefined });
    expect(shown({})).toEqual({ current: undefined, next: undefined });
  });

  it('asks for nothing and shows nothing without members, and its state has nothing of them', async () => {
    const api = serviceOf(KNOWN);
    const source = sourceOf();
    const { value } = await poll(api, {}, NOW, source);
    expect(asked(api.requests)).toEqual(['sync-committee']);
    expect(Object.keys(value)).toEqual(['period']);
    expect(shown(await stateAfter(KNOWN), NOW, source)).toEqual({ current: undefined, next: undefined });
    expect(source.nextChange(await stateAfter(KNOWN), timing({ now: NOW }))).toBe(Number.POSITIVE_INFINITY);
    expect(due(value, NOW, { source })).toBe((endOf(1700) / 1000 - 1) * 1000 + 5 * MINUTE);
  });

  it('applies another list to what is known, without a request', async () => {
    const state = await stateAfter(KNOWN);
    const other = sourceOf(membersOptions({ isWatched: (validator) => validator >= 500_000 }));
    expect(shown(state, NOW, other)).toEqual({ current: ['500000'], next: ['500001'] });
    expect(due(state, NOW, { source: other })).toBe(due(state, NOW));
  });

  it.each<[string, unknown]>([
    ['an empty list', NOT_KNOWN_YET],
    ['a committee without seats', membersAnswer(1701, [])],
    ['null for its seats', { status: 'OK', data: { period: 1701, validators: null } }],
    ['another period', membersAnswer(1700, [1, 2])],
    ['the period after the next', membersAnswer(1702, [1, 2])],
  ])(
    'takes %s for a next committee that is not known yet, and asks for that alone after an interval',
    async (_, body) => {
      const first = serviceOf({ ...KNOWN, instead: (selector) => (selector === 'next' ? body : undefined) });
      const { value, failure } = await poll(first);
      expect(failure).toBeUndefined();
      expect(shown(value)).toEqual({ current: ['7', '12', '99'], next: undefined });
      expect(due(value, NOW)).toBe(NOW + HOUR);
      const again = serviceOf(KNOWN);
      const { value: later } = await poll(again, value, NOW + HOUR);
      expect(asked(again.requests)).toEqual(['next']);
      expect(shown(later)['next']).toEqual(['3']);
      expect(due(later, NOW + HOUR)).toBe(endOf(1700) - 1000 + 5 * MINUTE);
    },
  );

  it('asks again for a current committee that is not known yet', async () => {
    const state = await stateAfter({ committees: { 1701: [3] } });
    expect(shown(state)).toEqual({ current: undefined, next: ['3'] });
    expect(due(state, NOW)).toBe(NOW + HOUR);
    const api = serviceOf(KNOWN);
    await poll(api, state, NOW + HOUR);
    expect(asked(api.requests)).toEqual(['1700']);
  });

  it('reads a list of one committee as that committee', async () => {
    const data = [(membersAnswer(1701, [3]) as { data: unknown }).data];
    const state = await stateAfter({ ...KNOWN, instead: (selector) => (selector === 'next' ? { data } : undefined) });
    expect(shown(state)['next']).toEqual(['3']);
  });

  it('drops and counts seats that it cannot read, and keeps the others', async () => {
    const api = serviceOf({ committees: { 1700: [7, null, '8', -1, 1.5, 12], 1701: [3] } });
    const { value } = await poll(api);
    expect(shown(value)['current']).toEqual(['7', '12']);
    expect(api.invalidRecords()).toBe(4);
  });

  it('keeps 512 members, as unique numbers', async () => {
    const state = await stateAfter({ committees: { 1700: Array.from({ length: 512 }, (_, i) => i >> 1) } });
    expect(state.committees).toEqual([{ period: 1700, validators: Array.from({ length: 256 }, (_, i) => i) }]);
  });

  it.each<[string, unknown]>([
    ['the envelope of an error', { status: 'ERROR: no', data: null }],
    ['nothing', {}],
    ['a period that is a text', { data: { period: '1701', validators: [1] } }],
    ['no list of seats', { data: { period: 1701 } }],
    [
      'more seats than there are',
      membersAnswer(
        1701,
        Array.from({ length: 513 }, (_, i) => i),
      ),
    ],
  ])('takes %s for a failure, which costs nothing that is known', async (_, body) => {
    const api = serviceOf({ ...KNOWN, instead: (selector) => (selector === 'next' ? body : undefined) });
    const { value, failure } = await poll(api);
    expect(failure).toMatchObject({ endpoint: 'sync_committee_members', reason: 'invalid_body' });
    expect(value.period?.number).toBe(1700);
    expect(shown(value)).toEqual({ current: ['7', '12', '99'], next: undefined });
    expect(due(value, NOW, { failing: true })).toBe(NOW + HOUR);
  });

  it.each<FailureReason>(['timeout', 'network', 'server_error', 'unauthorized', 'rate_limited'])(
    'a failure (%s) is one of the poll, and the next poll asks for what is missing',
    async (reason) => {
      const api = serviceOf({
        ...KNOWN,
        instead: (_, request) => {
          throw failed(request, reason);
        },
      });
      const { value, failure } = await poll(api);
      expect(failure).toMatchObject({ reason });
      expect(value).toMatchObject({ period: { number: 1700 }, committees: [] });
      const again = serviceOf(KNOWN);
      await poll(again, value, NOW + HOUR);
      expect(asked(again.requests)).toEqual(['1700', 'next']);
    },
  );

  it('plans two requests a period, and takes the first committee for a request that is made once', async () => {
    const pace = SOURCE.pace(Number.POSITIVE_INFINITY, 1);
    expect(pace).toEqual({ intervalMs: HOUR, requestsPerDay: (2 * DAY) / PERIOD, coverage: 'full' });
    expect(SOURCE.pace(1, 1)).toMatchObject({ intervalMs: 2 * DAY, requestsPerDay: 1 });
    expect((await poll(serviceOf(KNOWN))).oneTimeRequests).toBe(1);
  });
});
