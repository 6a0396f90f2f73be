import { describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../../src/api/client.ts';
import type { FailureReason } from '../../../src/api/errors.ts';
import {
  asked,
  due,
  endOf,
  KNOWN,
  membersOptions,
  NOW,
  poll,
  serviceOf,
  shown,
  sourceOf,
} from '../../support/committees.ts';
import { failed } from '../../support/fake-api.ts';
import { DAY, HOUR, MINUTE } from '../../support/timing.ts';

describe('sources/sync-committee/members refused', () => {
  const refuse =
    (reason: FailureReason) =>
    (_: string, request: ApiRequest): never => {
      throw failed(request, reason);
    };

  it.each<FailureReason>(['forbidden', 'not_found', 'method_not_allowed'])(
    '(%s) ends the asking without a failure, is told once, and the period is asked for at its time',
    async (reason) => {
      const told: string[] = [];
      const source = sourceOf(membersOptions({ operatorAt: 5, onRefused: ({ message }) => told.push(message) }));
      const api = serviceOf({ instead: refuse(reason) });
      const { value, failure, oneTimeRequests } = await poll(api, {}, NOW, source);
      expect(failure).toBeUndefined();
      expect(oneTimeRequests).toBe(1);
      expect(asked(api.requests)).toEqual(['sync-committee', '1700']);
      expect(value.period?.number).toBe(1700);
      expect(told).toEqual([`sync_committee_members: ${reason} (made up)`]);
      // A day later the members are asked for once more, and that they are still refused is no news.
      expect(due(value, NOW, { source })).toBe(NOW + DAY);
      const { value: again, failure: none } = await poll(api, value, NOW + DAY, source);
      expect(none).toBeUndefined();
      expect(asked(api.requests).slice(2)).toEqual(['1700']);
      expect(due(again, NOW + DAY, { source })).toBe(endOf(1700) - 1000 + 5 * MINUTE);
      const later = serviceOf({ period: 1701, instead: refuse(reason) });
      const { value: after } = await poll(later, again, endOf(1700) + 5 * MINUTE, source);
      expect(asked(later.requests)).toEqual(['sync-committee']);
      expect(after.period?.number).toBe(1701);
      expect(told).toHaveLength(1);
    },
  );

  it('is not believed after a single 400, which can be a database that fails for a moment', async () => {
    const told: Error[] = [];
    const source = sourceOf(membersOptions({ onRefused: (error) => told.push(error) }));
    const { value, failure } = await poll(serviceOf({ instead: refuse('bad_request') }), {}, NOW, source);
    expect(failure).toMatchObject({ endpoint: 'sync_committee_members', reason: 'bad_request' });
    expect(due(value, NOW, { source, failing: true })).toBe(NOW + HOUR);
    const api = serviceOf(KNOWN);
    const { value: after } = await poll(api, value, NOW + HOUR, source);
    expect(asked(api.requests)).toEqual(['1700', 'next']);
    expect(shown(after)).toEqual({ current: ['7', '12', '99'], next: ['3'] });
    expect(after.membersRefusal).toBeUndefined();
    expect(told).toEqual([]);
  });

  it('is believed after 400 at three attempts over at least an hour, and told once', async () => {
    const told: Error[] = [];
    const source = sourceOf(membersOptions({ onRefused: (error) => told.push(error) }));
    const api = serviceOf({ instead: refuse('bad_request') });
    let last = await poll(api, {}, NOW, source);
    for (const at of [NOW + MINUTE, NOW + HOUR - 1]) last = await poll(api, last.value, at, source);
    expect(last.failure).toMatchObject({ reason: 'bad_request' });
    expect(told).toEqual([]);
    last = await poll(api, last.value, NOW + HOUR, source);
    expect(last.failure).toBeUndefined();
    expect(told).toHaveLength(1);
    expect(due(last.value, NOW + HOUR, { source })).toBe(NOW + HOUR + DAY);
  });

  it('keeps the members that are known until their period is over', async () => {
    const api = serviceOf({
      ...KNOWN,
      instead: (selector, request) => (selector === 'next' ? refuse('forbidden')(selector, request) : undefined),
    });
    const { value, oneTimeRequests } = await poll(api);
    expect(oneTimeRequests).toBe(2);
    expect(shown(value)).toEqual({ current: ['7', '12', '99'], next: undefined });
    expect(shown(value, endOf(1700))).toEqual({ current: undefined, next: undefined });
  });

  it('ends with a start or a reload: then the members are asked for after an interval since the last poll', async () => {
    const { value } = await poll(serviceOf({ instead: refuse('forbidden') }));
    const reloaded = sourceOf(membersOptions({ operatorAt: NOW + 2 * HOUR }));
    expect(due(value, NOW, { source: reloaded, now: NOW + 2 * HOUR })).toBe(NOW + HOUR);
    const api = serviceOf(KNOWN);
    const { value: after } = await poll(api, value, NOW + 2 * HOUR, reloaded);
    expect(asked(api.requests)).toEqual(['1700', 'next']);
    expect(after.membersRefusal).toBeUndefined();
    expect(shown(after)).toEqual({ current: ['7', '12', '99'], next: ['3'] });
  });
});
