import { describe, expect, it } from 'vitest';
import type { Quota } from '../../src/budget/bucket.ts';
import { type Entry, emptyEntry } from '../../src/scheduler/entry.ts';
import {
  type BudgetView,
  isReady,
  pacesOf,
  type Schedule,
  type SourceView,
  schedulesOf,
  sourceViews,
  valueFor,
} from '../../src/scheduler/schedules.ts';
import { type Coverage, oncePer, type Pace } from '../../src/sources/source.ts';
import { fakeSource } from '../support/runs/fake-source.ts';
import { known } from '../support/runs/known.ts';
import { NO_QUOTA } from '../support/runs/scheduler-harness.ts';
import { DAY, HOUR, MINUTE } from '../support/time/timing.ts';

const NOVEMBER = Date.UTC(2026, 10, 1);
const NOW = NOVEMBER - 20 * DAY;
const POLLED: Partial<Entry> = { lastAttemptAt: NOW - HOUR, intervalMs: 2 * HOUR, coverage: 'full' };
const LEFT: Quota = { ...NO_QUOTA, left: 100, resetsAt: NOVEMBER, end: NOVEMBER };
const SPENT: Quota = { ...LEFT, left: 0, closedUntil: NOVEMBER };

const allowed = (requestsPerDay: number) => ({ bucketOf: () => 'one', allowedPerDay: () => requestsPerDay });

function pace(intervalMs: number, requestsPerDay = DAY / intervalMs, coverage: Coverage = 'full'): Pace {
  return { intervalMs, requestsPerDay, coverage };
}

describe('scheduler/schedules: paces', () => {
  it('does not let one bucket pay for another', () => {
    const [poor, rich] = [fakeSource(), fakeSource({ name: 'slashings' })];
    const paces = pacesOf(
      [known(poor), known(rich)],
      {
        bucketOf: (source) => (source === poor ? 'poor' : 'rich'),
        allowedPerDay: (bucket) => (bucket === 'poor' ? 24 : 100_000),
      },
      NOW,
    );
    expect([paces.get(poor)?.intervalMs, paces.get(rich)?.intervalMs]).toEqual([HOUR, MINUTE]);
  });

  it('counts what a poll usually costs', () => {
    const source = fakeSource();
    expect(pacesOf([known(source, { costs: [10, 90, 10] })], allowed(240), NOW).get(source)?.intervalMs).toBe(HOUR);
  });

  it('gives no interval shorter than a poll takes, and what that leaves to the others', () => {
    const [long, other] = [fakeSource(), fakeSource({ name: 'slashings' })];
    const asking = [
      known(long, { costs: [10, 10], durations: [2 * MINUTE, 2 * MINUTE] }),
      known(other, { costs: [10, 10], durations: [MINUTE / 2, MINUTE / 2] }),
    ];
    const paces = pacesOf(asking, allowed(21_600), NOW);
    expect(paces.get(long)).toEqual(pace(2 * MINUTE, 7_200));
    expect(paces.get(other)).toEqual(pace(MINUTE, 14_400));
    expect(pacesOf(asking.slice(0, 1), allowed(240), NOW).get(long)).toEqual(pace(HOUR, 240));
  });

  it('serves daily work first, but for a source whose data is overdue: it asks at every interval, and shares by weight', () => {
    const daily = fakeSource({
      intervalMs: HOUR,
      isDaily: true,
      due: (at, { lastAttemptAt = 0 }) => Math.max(at, lastAttemptAt + HOUR),
      pace: (perDay) => oncePer(DAY, HOUR, perDay),
    });
    const steady = fakeSource({ weight: 3 });
    const paces = (polls: Partial<Entry>, perDay = 32) => {
      const both = pacesOf([known(daily, polls), known(steady)], allowed(perDay), NOW);
      return [both.get(daily)?.intervalMs, Math.round(both.get(steady)?.requestsPerDay ?? 0)];
    };
    const dueAt = (at: number) => ({ value: at, lastAttemptAt: NOW - HOUR });
    expect(paces({})).toEqual([HOUR, 31]);
    expect(paces(dueAt(NOW - 5 * HOUR))).toEqual([HOUR, 31]);
    expect(paces(dueAt(NOW - 6 * HOUR))).toEqual([3 * HOUR, 24]);
    expect(paces(dueAt(NOW - 6 * HOUR), 10_000)[0]).toBe(HOUR);
  });
});

interface Case {
  readonly polls?: Partial<Entry>;
  readonly plannedMs?: number;
  readonly quota?: Quota;
  readonly keyAt?: number;
}

/** The schedule of a source of which a poll costs one request. */
function scheduled({ polls = POLLED, plannedMs = 2 * HOUR, quota = LEFT, keyAt = 0 }: Case = {}): Schedule {
  const source = fakeSource();
  const view: BudgetView = { ...allowed(DAY / plannedMs), quotaOf: () => quota, keyAt: () => keyAt };
  return valueFor(schedulesOf([known(source, polls)], view, NOW), source);
}

describe('scheduler/schedules', () => {
  it('runs a source at the pace that the budget allows', () => {
    expect(scheduled()).toEqual({ pace: pace(2 * HOUR), nextAttemptAt: NOW + HOUR });
  });

  it('shows what was polled for a longer interval for as long as that', () => {
    const view: BudgetView = { ...allowed(24), quotaOf: () => LEFT, keyAt: () => 0 };
    const one = known(fakeSource(), POLLED);
    const [shown] = sourceViews([{ ...one, saved: one.current, running: false }], view, NOW);
    expect([shown?.pace.intervalMs, shown?.timing.intervalMs]).toEqual([HOUR, 2 * HOUR]);
  });

  it('keeps the pace of the last poll where nothing is left, and waits for the reset', () => {
    expect(scheduled({ plannedMs: 31 * DAY, quota: SPENT })).toEqual({
      pace: pace(2 * HOUR, 0),
      nextAttemptAt: NOVEMBER,
      wait: { until: NOVEMBER, limit: 'month' },
    });
  });

  it('waits for the reset where its share is less than a poll, and runs with a share of one', () => {
    expect(scheduled({ plannedMs: 20 * DAY }).pace).toEqual(pace(20 * DAY));
    const { pace: kept, wait } = scheduled({ plannedMs: 20.1 * DAY });
    expect([kept, wait?.until]).toEqual([pace(2 * HOUR, 0), NOVEMBER]);
    // A trial may last longer than the month, but it is the month that may be renewed.
    const trial = { ...LEFT, end: NOVEMBER + 9 * DAY };
    expect(scheduled({ plannedMs: 20.1 * DAY, quota: trial }).wait).toBeUndefined();
    expect(scheduled({ plannedMs: 30 * DAY, quota: trial }).wait?.until).toBe(NOVEMBER);
  });

  it('waits for the reset where less is left than a poll takes', () => {
    const polls = { ...POLLED, costs: [7, 7, 7] };
    expect(scheduled({ polls, quota: { ...LEFT, left: 6 } }).nextAttemptAt).toBe(NOVEMBER);
    expect(scheduled({ polls, quota: { ...LEFT, left: 7 } }).wait).toBeUndefined();
  });

  it('waits for a long time that a 429 named, whatever is left by our count', () => {
    const quota = { ...LEFT, closedUntil: NOVEMBER, limit: '429' } as const;
    const { pace: kept, wait } = scheduled({ quota, plannedMs: HOUR });
    expect(kept).toEqual(pace(2 * HOUR, 0));
    expect(wait).toEqual({ until: NOVEMBER, limit: '429' });
  });

  it('keeps its pace in a wait that is shorter than its interval', () => {
    const quota = { ...LEFT, closedUntil: NOW + MINUTE, limit: '429' } as const;
    const polls = { ...POLLED, lastAttemptAt: NOW - 3 * HOUR };
    expect(scheduled({ quota, polls })).toEqual({ pace: pace(2 * HOUR), nextAttemptAt: NOW + MINUTE });
  });

  it('does not call it a wait where the reset comes less than an interval after the source is due', () => {
    const at = NOW + 2.9 * HOUR;
    const soon = { quota: { ...SPENT, closedUntil: at, resetsAt: at }, plannedMs: 31 * DAY };
    expect(scheduled(soon)).toEqual({ pace: pace(2 * HOUR, 0), nextAttemptAt: at });
    expect(scheduled({ ...soon, polls: { ...POLLED, lastAttemptAt: NOW - 2 * HOUR } }).wait).toBeDefined();
  });

  it('does not call a refused or revoked key a wait for the quota', () => {
    for (const keyAt of [NOW + DAY, Number.POSITIVE_INFINITY]) {
      expect(scheduled({ plannedMs: 31 * DAY, keyAt })).not.toHaveProperty('wait');
    }
  });
});

describe('scheduler/schedules: readiness', () => {
  const tried = { ...emptyEntry(fakeSource()), failuresInARow: 1, lastAttemptAt: NOW };
  const viewed = (overrides: Partial<SourceView>): SourceView => {
    const source = fakeSource();
    const timing = { now: NOW, intervalMs: MINUTE, coverage: 'full' } as const;
    const base = {
      source,
      bucket: 'default',
      entry: emptyEntry(source),
      pace: pace(MINUTE),
      timing,
      parts: [],
      running: false,
    };
    return { ...base, nextAttemptAt: NOW, ...overrides };
  };

  it.each([
    ['false if nothing was tried', {}, false],
    ['false while a first poll runs', { running: true, nextAttemptAt: NOW + MINUTE }, false],
    ['true after a first attempt, however it went', { entry: tried }, true],
    ['true if a first attempt may not be made yet', { nextAttemptAt: NOW + 1 }, true],
    ['true if access is revoked', { nextAttemptAt: Number.POSITIVE_INFINITY }, true],
  ] as const)('is %s', (_name, overrides, ready) => {
    expect(isReady([viewed({ entry: tried }), viewed(overrides)], NOW)).toBe(ready);
  });

  it('is true without any source', () => {
    expect(isReady([], NOW)).toBe(true);
  });
});
