import { describe, expect, it } from 'vitest';
import { asked, due, endOf, KNOWN, NOW, poll, SOURCE, serviceOf, shown, stateAfter } from '../../support/committees.ts';
import { DAY, HOUR, MINUTE, timing } from '../../support/timing.ts';

describe('sources/sync-committee/members in time', () => {
  it('makes the next committee the current one at the end of the period, to the millisecond, and withdraws what is over', async () => {
    const state = await stateAfter(KNOWN);
    const change = (now: number): number => SOURCE.nextChange(state, timing({ now }));
    expect(change(NOW)).toBe(endOf(1700));
    expect(shown(state, endOf(1700) - 1)).toEqual({ current: ['7', '12', '99'], next: ['3'] });
    expect(shown(state, endOf(1700))).toEqual({ current: ['3'], next: undefined });
    expect(change(endOf(1700))).toBe(endOf(1701));
    expect(shown(state, endOf(1701))).toEqual({ current: undefined, next: undefined });
    expect(change(endOf(1701))).toBe(Number.POSITIVE_INFINITY);
    expect(shown(state, endOf(1701) + 30 * DAY)).toEqual({ current: undefined, next: undefined });
  });

  it('keeps the committee of a period that has begun when the clock is set back, and shows it again after a jump ahead', async () => {
    const state = await stateAfter(KNOWN);
    expect(shown(state, NOW - 30 * DAY)).toEqual({ current: ['7', '12', '99'], next: ['3'] });
    expect(shown(state, NOW)).toEqual({ current: ['7', '12', '99'], next: ['3'] });
  });

  it('does not ask for the next committee once more when it has become the current one', async () => {
    const state = await stateAfter(KNOWN);
    const now = endOf(1700) + 5 * MINUTE;
    const api = serviceOf({ period: 1701, committees: { 1702: [4] } });
    const { value } = await poll(api, state, now);
    expect(asked(api.requests)).toEqual(['sync-committee', 'next']);
    expect(shown(value, now)).toEqual({ current: ['3'], next: ['4'] });
    expect(value.committees?.map(({ period }) => period)).toEqual([1701, 1702]);
  });

  it('asks for no committee of a period that is over, where the service still names that period', async () => {
    const state = await stateAfter({ committees: {} });
    const now = endOf(1700) + 5 * MINUTE;
    const api = serviceOf({ ...KNOWN, period: 1700 });
    const { value } = await poll(api, state, now);
    expect(asked(api.requests)).toEqual(['sync-committee', 'next']);
    expect(shown(value, now)).toEqual({ current: ['3'], next: undefined });
    expect(due(value, now)).toBe(now + HOUR);
  });

  it('asks for both committees after an outage of days', async () => {
    const state = await stateAfter(KNOWN);
    const api = serviceOf({ period: 1704, committees: { 1704: [1], 1705: [2] } });
    const { value } = await poll(api, state, endOf(1703) + HOUR);
    expect(asked(api.requests)).toEqual(['sync-committee', '1704', 'next']);
    expect(shown(value, endOf(1703) + HOUR)).toEqual({ current: ['1'], next: ['2'] });
  });

  it('reads the period when the clock was set, even if all members are known', async () => {
    const state = await stateAfter(KNOWN);
    for (const now of [NOW, NOW - DAY]) {
      const api = serviceOf(KNOWN);
      await poll(api, state, now);
      expect(asked(api.requests)).toEqual(['sync-committee']);
    }
  });

  it('waits for five minutes after the end where the interval falls between the two', async () => {
    const state = await stateAfter({ committees: { 1700: [1] } });
    const last = endOf(1700) - HOUR + MINUTE;
    expect(due(state, last)).toBe(endOf(1700) - 1000 + 5 * MINUTE);
    expect(due(state, last - 2 * MINUTE)).toBe(endOf(1700) - MINUTE);
  });
});
