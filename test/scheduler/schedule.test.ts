import { describe, expect, it } from 'vitest';
import type { Quota } from '../../src/budget/quota.ts';
import { type Schedule, type ScheduleInput, scheduleOf } from '../../src/scheduler/schedule.ts';
import type { Pace } from '../../src/sources/source.ts';
import { type Entry, emptyEntry } from '../../src/state/entry.ts';
import { fakeSource } from '../support/fake-source.ts';
import { NO_QUOTA } from '../support/scheduler-harness.ts';
import { DAY, HOUR, MINUTE } from '../support/timing.ts';

const NOVEMBER = Date.UTC(2026, 10, 1);
const NOW = NOVEMBER - 20 * DAY;
const source = fakeSource();

function every(intervalMs: number, coverage: Pace['coverage'] = 'full'): Pace {
  return { intervalMs, requestsPerDay: DAY / intervalMs, coverage };
}

const POLLED: Entry = {
  ...emptyEntry(source),
  lastAttemptAt: NOW - HOUR,
  intervalMs: 2 * HOUR,
  coverage: 'full',
};
const LEFT: Quota = { ...NO_QUOTA, renewsAt: NOVEMBER, probeAt: NOW + 23 * HOUR };
const SPENT: Quota = { ...LEFT, opensAt: NOVEMBER };
/** Nothing is left, and as little is planned as a pace can say. */
const NOTHING = { planned: every(31 * DAY), quota: SPENT, opensAt: NOVEMBER };

function scheduled(input: Partial<Omit<ScheduleInput, 'whole'>> & { whole?: Pace } = {}, now = NOW): Schedule {
  const { whole = every(2 * HOUR, 'sampled'), ...rest } = input;
  const usual = { source, entry: POLLED, planned: every(2 * HOUR), quota: LEFT, opensAt: 0 };
  return scheduleOf({ ...usual, ...rest, whole: () => whole }, now);
}

describe('scheduler/schedule', () => {
  it('runs a source at the pace that the budget allows', () => {
    expect(scheduled()).toEqual({ pace: every(2 * HOUR), nextAttemptAt: NOW + HOUR, probeAt: Infinity });
  });

  it('keeps the pace of the last poll where nothing is left, until the renewal, but for a question', () => {
    expect(scheduled(NOTHING)).toEqual({
      pace: { intervalMs: 2 * HOUR, coverage: 'full', requestsPerDay: 0 },
      nextAttemptAt: NOVEMBER,
      // A day after the last request, and not before the source is due.
      probeAt: NOW + 23 * HOUR,
      wait: { until: NOVEMBER, limit: 'month' },
    });
    const due = scheduled({ ...NOTHING, quota: { ...SPENT, probeAt: NOW - DAY } });
    expect(due.probeAt).toBe(NOW + HOUR);
  });

  it.each<[string, Partial<Entry>]>([
    ['before the first poll', {}],
    ['where the last poll had no pace either', { lastAttemptAt: NOW - HOUR, intervalMs: 31 * DAY }],
    ['where no limit was known at the last poll', { lastAttemptAt: NOW - HOUR }],
  ])('has the pace of a whole quota %s', (_, entry) => {
    const { pace, wait } = scheduled({ ...NOTHING, entry: { ...emptyEntry(source), ...entry } });
    expect(pace).toMatchObject({ intervalMs: 2 * HOUR, coverage: 'sampled' });
    expect(wait?.until).toBe(NOVEMBER);
  });

  it('takes the coverage from a whole quota where an earlier version kept none', () => {
    const { coverage: _, ...entry } = POLLED;
    expect(scheduled({ ...NOTHING, entry: { ...entry, intervalMs: 3 * HOUR } }).pace).toMatchObject({
      intervalMs: 3 * HOUR,
      coverage: 'sampled',
    });
  });

  it('waits for the renewal where less is left than a poll takes, unless a whole quota carries none either', () => {
    const entry = { ...POLLED, costs: [7, 7, 7] };
    const wait = { until: NOVEMBER, limit: 'month' };
    expect(scheduled({ entry, quota: { ...LEFT, left: 6, whole: 900 } })).toMatchObject({
      wait,
      nextAttemptAt: NOVEMBER,
    });
    expect(scheduled({ entry, quota: { ...LEFT, left: 7, whole: 900 } }).wait).toBeUndefined();
    expect(scheduled({ entry, quota: { ...LEFT, left: 6, whole: 6 } }).wait).toBeUndefined();
  });

  it('waits also where one of the last polls took more than is left', () => {
    const quota = { ...LEFT, left: 5, whole: 900 };
    expect(scheduled({ entry: { ...POLLED, costs: [5, 5, 6, 6, 5] }, quota }).nextAttemptAt).toBe(NOVEMBER);
    expect(scheduled({ entry: { ...POLLED, costs: [2, 2, 5, 2, 2] }, quota }).wait).toBeUndefined();
  });

  it('waits for a long time that a 429 named, whatever is left by our count', () => {
    const { pace, wait } = scheduled({ quota: { ...SPENT, limit: '429' }, opensAt: NOVEMBER, planned: every(HOUR) });
    expect(pace).toMatchObject({ intervalMs: 2 * HOUR, requestsPerDay: 0 });
    expect(wait).toEqual({ until: NOVEMBER, limit: '429' });
  });

  it('does not call it a wait where the renewal comes before the source is due, or less than an interval later', () => {
    const at = NOW + 2.9 * HOUR;
    const soon = { ...NOTHING, quota: { ...SPENT, opensAt: at, renewsAt: at }, opensAt: at };
    expect(scheduled(soon)).toEqual({
      pace: { intervalMs: 2 * HOUR, coverage: 'full', requestsPerDay: 0 },
      nextAttemptAt: at,
      probeAt: Infinity,
    });
    expect(scheduled({ ...soon, entry: { ...POLLED, lastAttemptAt: NOW } }).wait).toBeUndefined();
    expect(scheduled({ ...soon, entry: { ...POLLED, lastAttemptAt: NOW - 2 * HOUR } }).wait).toBeDefined();
  });

  it('does not call a refused or revoked key a wait for the quota', () => {
    for (const opensAt of [NOW + DAY, Number.POSITIVE_INFINITY]) {
      const { wait, probeAt } = scheduled({ planned: every(31 * DAY), opensAt });
      expect([wait, probeAt]).toEqual([undefined, Infinity]);
    }
  });

  describe('with little left', () => {
    it('calls a poll a day a pace, and what is less a wait: for the poll that it carries, or the renewal', () => {
      expect(scheduled({ planned: every(DAY) })).toMatchObject({ pace: every(DAY), nextAttemptAt: NOW + 23 * HOUR });
      const slow = scheduled({ planned: every(5 * DAY) });
      expect(slow.pace).toEqual({ intervalMs: 2 * HOUR, coverage: 'full', requestsPerDay: 0.2 });
      expect(slow.nextAttemptAt).toBe(NOW + 5 * DAY - HOUR);
      expect(slow.wait).toEqual({ until: NOW + 5 * DAY - HOUR, limit: 'month' });
      expect(scheduled({ planned: every(25 * DAY) }).nextAttemptAt).toBe(NOVEMBER);
    });

    it('calls it a pace as well where a whole quota would carry at most twice as many polls', () => {
      const whole = every(5 * DAY);
      expect(scheduled({ whole, planned: every(10 * DAY) }).pace.intervalMs).toBe(10 * DAY);
      expect(scheduled({ whole, planned: every(10 * DAY + MINUTE) }).pace.intervalMs).toBe(2 * HOUR);
    });
  });
});
