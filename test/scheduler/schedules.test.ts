import { describe, expect, it } from 'vitest';
import type { Quota } from '../../src/budget/bucket.ts';
import { type Attempt, emptyEntry } from '../../src/scheduler/entry.ts';
import { type BudgetView, pacesOf, type ReadPace } from '../../src/scheduler/paces.ts';
import {
  isReady,
  type ReadSchedule,
  type SourceView,
  schedulesOf,
  sourceViews,
  valueFor,
} from '../../src/scheduler/schedules.ts';
import { NO_INPUTS } from '../../src/sources/read.ts';
import type { Source } from '../../src/sources/source.ts';
import { fakeSource } from '../support/runs/fake-source.ts';
import { entryOf, known } from '../support/runs/known.ts';
import { NO_QUOTA } from '../support/runs/scheduler-harness.ts';
import { DAY, HOUR, MINUTE, timing } from '../support/time/timing.ts';

const NOVEMBER = Date.UTC(2026, 10, 1);
const NOW = NOVEMBER - 20 * DAY;
const POLLED: Partial<Attempt> = { lastAttemptAt: NOW - HOUR, intervalMs: 2 * HOUR };
const LEFT: Quota = { ...NO_QUOTA, left: 100, resetsAt: NOVEMBER, end: NOVEMBER };
const SPENT: Quota = { ...LEFT, left: 0, closedUntil: NOVEMBER };

const allowed = (requestsPerDay: number) => ({ bucketOf: () => 'one', allowedPerDay: () => requestsPerDay });

function pace(intervalMs: number, requestsPerDay = DAY / intervalMs, isStretched = intervalMs > MINUTE): ReadPace {
  return { intervalMs, isStretched, beside: [], requestsPerDay };
}

/** The pace of the only read of each source. */
function pacesOn(...[sources, view, now]: Parameters<typeof pacesOf>): (source: Source) => ReadPace | undefined {
  const paces = pacesOf(sources, view, now);
  return (source) => paces.get(source)?.get('only');
}

const AT = { now: NOW, held: NOW };

describe('scheduler/paces', () => {
  it('does not let one bucket pay for another', () => {
    const [poor, rich] = [fakeSource(), fakeSource({ name: 'slashings' })];
    const paceOf = pacesOn(
      [known(poor), known(rich)],
      {
        bucketOf: (source) => (source === poor ? 'poor' : 'rich'),
        allowedPerDay: (bucket) => (bucket === 'poor' ? 24 : 100_000),
      },
      NOW,
    );
    expect([paceOf(poor)?.intervalMs, paceOf(rich)?.intervalMs]).toEqual([HOUR, MINUTE]);
  });

  it('gives no interval shorter than a run takes, and leaves the rest to others', () => {
    const [long, other] = [fakeSource(), fakeSource({ name: 'slashings' })];
    const asking = [
      known(long, { costs: [10, 10], durations: [2 * MINUTE, 2 * MINUTE] }),
      known(other, { costs: [10, 10], durations: [MINUTE / 2, MINUTE / 2] }),
    ];
    const paceOf = pacesOn(asking, allowed(21_600), NOW);
    expect(paceOf(long)).toEqual(pace(2 * MINUTE, 7_200, false));
    expect(paceOf(other)).toEqual(pace(MINUTE, 14_400));
    expect(pacesOn(asking.slice(0, 1), allowed(240), NOW)(long)).toEqual(pace(HOUR, 240));
  });

  it('pays for daily work first, unless its data are overdue', () => {
    const daily = (from: number) => fakeSource({ everyMs: HOUR, period: { ms: DAY, from: () => from } });
    const steady = fakeSource({ share: () => 3 });
    const paces = (from: number, attempt: Partial<Attempt>, perDay = 32) => {
      const source = daily(from);
      const paceOf = pacesOn([known(source, attempt), known(steady)], allowed(perDay), NOW);
      return [paceOf(source)?.intervalMs, Math.round(paceOf(steady)?.requestsPerDay ?? 0)];
    };
    const tried = { lastAttemptAt: NOW - HOUR };
    expect(paces(NOW - 6 * HOUR, {})).toEqual([HOUR, 31]);
    expect(paces(NOW - 5 * HOUR, tried)).toEqual([HOUR, 31]);
    expect(paces(NOW - 6 * HOUR, tried)).toEqual([3 * HOUR, 24]);
    expect(paces(NOW - 6 * HOUR, tried, 10_000)[0]).toBe(HOUR);
  });

  describe('of the reads of one source', () => {
    const basic = { name: 'basic', everyMs: MINUTE };
    const slow = { name: 'slow', everyMs: HOUR };
    const late = { name: 'late', everyMs: MINUTE, slowestMs: 6 * MINUTE };
    const intervals = (reads: readonly object[], perDay: number, leftOut: readonly string[] = []) => {
      const source = fakeSource({ reads });
      const current = { ...emptyEntry(source), leftOut };
      const paces = pacesOf([{ source, current }], allowed(perDay), NOW).get(source) ?? new Map();
      return Object.fromEntries([...paces].map(([name, one]) => [name, Math.round(one.intervalMs / 1000)]));
    };

    it('stretch by the same factor', () => {
      expect(intervals([basic, slow], 1_464)).toEqual({ basic: 60, slow: 3_600 });
      expect(intervals([basic, slow], 732)).toEqual({ basic: 120, slow: 7_200 });
    });

    it('pay for late reads last, which stretch alone up to their slowest and are then left out', () => {
      expect(intervals([basic, late], 2_880)).toEqual({ basic: 60, late: 60 });
      expect(intervals([basic, late], 2_160)).toEqual({ basic: 60, late: 120 });
      expect(intervals([basic, late], 1_680)).toEqual({ basic: 60, late: 360 });
      expect(intervals([basic, late], 1_679)).toEqual({ basic: 60 });
      expect(intervals([basic, late], 720)).toEqual({ basic: 120 });
    });

    it('take back a read that was left out only with a tenth more', () => {
      expect(intervals([basic, late], 1_680 * 1.09, ['late'])).toEqual({ basic: 60 });
      expect(intervals([basic, late], 1_680 * 1.1, ['late'])).toMatchObject({ basic: 60, late: expect.any(Number) });
    });

    describe('and those that are paid from the rest', () => {
      const first = { name: 'first', everyMs: MINUTE, spare: 1 };
      const second = { name: 'second', everyMs: MINUTE, spare: 1 };
      const other = fakeSource({ name: 'slashings', reads: [basic] });
      const auto = { name: 'auto', everyMs: MINUTE, spare: 0.25 };
      const more = { ...auto, name: 'more' };

      interface Account {
        readonly reads: readonly object[];
        readonly perDay: number;
        readonly isMonthly?: boolean | undefined;
        readonly leftOut?: readonly string[];
        readonly tried?: readonly string[];
      }

      function requests({ reads, perDay, isMonthly, leftOut = [], tried = [] }: Account): Record<string, number> {
        const source = fakeSource({ reads });
        const attempts = tried.map((name) => [name, { failuresInARow: 0, durationMs: 1, lastAttemptAt: NOW }] as const);
        const current = { ...emptyEntry(source), leftOut, reads: Object.fromEntries(attempts) };
        const quotaOf = () => ({ ...NO_QUOTA, ...(isMonthly !== undefined && { isMonthly }) });
        const all = pacesOf([{ source, current }, known(other)], { ...allowed(perDay), quotaOf }, NOW);
        const paces = [...(all.get(source) ?? []), ...(all.get(other) ?? [])];
        return Object.fromEntries(
          paces.map(([name, one], i) => [i === paces.length - 1 ? 'other' : name, Math.round(one.requestsPerDay)]),
        );
      }

      it('slow down no other source, and are paid in their order', () => {
        const reads = [basic, first, second];
        expect(requests({ reads, perDay: 5_760 })).toEqual({ basic: 1_440, other: 1_440, first: 1_440, second: 1_440 });
        expect(requests({ reads, perDay: 5_040 })).toEqual({ basic: 1_440, other: 1_440, first: 1_440, second: 720 });
        expect(requests({ reads, perDay: 3_600 })).toMatchObject({ basic: 1_440, other: 1_440, first: 720, second: 0 });
        expect(requests({ reads, perDay: 1_440 })).toMatchObject({ basic: 720, other: 720, first: 0, second: 0 });
      });

      it('are on by themselves only within their share of known limits, and without a monthly quota', () => {
        const isOn = (account: Omit<Account, 'reads'>): string[] =>
          Object.keys(requests({ reads: [basic, auto, more], isMonthly: false, ...account })).filter(
            (name) => name !== 'basic' && name !== 'other',
          );
        expect(isOn({ perDay: 11_520 })).toEqual(['auto', 'more']);
        expect(isOn({ perDay: 11_519 })).toEqual(['auto']);
        expect(isOn({ perDay: 5_760 })).toEqual(['auto']);
        expect(isOn({ perDay: 5_759 })).toEqual([]);
        expect(isOn({ perDay: 1e6, isMonthly: true })).toEqual([]);
        expect(isOn({ perDay: 1e6, isMonthly: undefined })).toEqual([]);
        // With another key, before any limit is known, a read that was on stays on.
        expect(isOn({ perDay: 1e6, isMonthly: undefined, tried: ['auto'] })).toEqual(['auto']);
        expect(isOn({ perDay: 1e6, isMonthly: undefined, tried: ['auto'], leftOut: ['auto'] })).toEqual([]);
        // A read that was left out needs a tenth more.
        expect(isOn({ perDay: 6_335, leftOut: ['auto', 'more'] })).toEqual([]);
        expect(isOn({ perDay: 6_337, leftOut: ['auto', 'more'] })).toEqual(['auto']);
      });
    });

    it('pay for a periodic read first, which others do not stretch', () => {
      const daily = { name: 'daily', everyMs: HOUR, period: { ms: DAY, from: () => NOW } };
      expect(intervals([basic, daily], 721)).toEqual({ daily: 3_600, basic: 120 });
    });
  });
});

interface Case {
  readonly attempt?: Partial<Attempt>;
  readonly plannedMs?: number;
  readonly quota?: Quota;
  readonly keyAt?: number;
}

/** The schedule of a source whose run costs one request. */
function scheduled({ attempt = POLLED, plannedMs = 2 * HOUR, quota = LEFT, keyAt = 0 }: Case = {}): ReadSchedule {
  const source = fakeSource();
  const view: BudgetView = { ...allowed(DAY / plannedMs), quotaOf: () => quota, keyAt: () => keyAt };
  return valueFor(schedulesOf([known(source, attempt)], view, AT), source).first;
}

/** The pace of the last attempt, without a cost. */
const KEPT = pace(2 * HOUR, 0, false);

describe('scheduler/schedules', () => {
  it('shows values for as long as the interval at which they were polled', () => {
    const view: BudgetView = { ...allowed(24), quotaOf: () => LEFT, keyAt: () => 0 };
    const one = known(fakeSource(), POLLED);
    const [shown] = sourceViews([{ ...one, saved: one.current, running: false }], view, AT);
    expect([shown?.first.pace.intervalMs, shown?.timing.intervalMs]).toEqual([HOUR, 2 * HOUR]);
  });

  it('keeps the pace of the last poll if nothing is left, and waits for the reset', () => {
    expect(scheduled({ plannedMs: 31 * DAY, quota: SPENT })).toMatchObject({
      pace: KEPT,
      nextAttemptAt: NOVEMBER,
      wait: { until: NOVEMBER, limit: 'month' },
    });
  });

  it('waits for the reset if its share is less than one poll, not if it is one', () => {
    expect(scheduled({ plannedMs: 20 * DAY }).pace).toEqual(pace(20 * DAY));
    const { pace: kept, wait } = scheduled({ plannedMs: 20.1 * DAY });
    expect([kept, wait?.until]).toEqual([KEPT, NOVEMBER]);
    // A trial may last beyond the month, but the quota may renew with the month.
    const trial = { ...LEFT, end: NOVEMBER + 9 * DAY };
    expect(scheduled({ plannedMs: 20.1 * DAY, quota: trial }).wait).toBeUndefined();
    expect(scheduled({ plannedMs: 30 * DAY, quota: trial }).wait?.until).toBe(NOVEMBER);
    // A daily poll is due on the last day too, although less than a day is left.
    const last = { ...LEFT, resetsAt: NOW + DAY - MINUTE, end: NOW + DAY - MINUTE };
    const attempt = { lastAttemptAt: NOW - DAY, intervalMs: DAY };
    const daily = scheduled({ attempt, plannedMs: DAY, quota: last });
    expect([daily.nextAttemptAt, daily.wait]).toEqual([NOW, undefined]);
  });

  it('does not wait for the reset at its configured interval, however soon the reset comes', () => {
    const soon = { ...LEFT, resetsAt: NOW + MINUTE / 2, end: NOW + MINUTE / 2 };
    expect(scheduled({ plannedMs: MINUTE, quota: soon }).nextAttemptAt).toBeLessThan(NOW);
  });

  it('waits for the reset if less is left than a poll takes', () => {
    const attempt = { ...POLLED, costs: [7, 7, 7] };
    expect(scheduled({ attempt, quota: { ...LEFT, left: 6 } }).nextAttemptAt).toBe(NOVEMBER);
    expect(scheduled({ attempt, quota: { ...LEFT, left: 7 } }).wait).toBeUndefined();
  });

  it('waits as long as a 429 asks, whatever our count leaves', () => {
    const quota = { ...LEFT, closedUntil: NOVEMBER, limit: '429' } as const;
    const { pace: kept, wait } = scheduled({ quota, plannedMs: HOUR });
    expect(kept).toEqual(KEPT);
    expect(wait).toEqual({ until: NOVEMBER, limit: '429' });
  });

  it('keeps its pace during a wait shorter than its interval', () => {
    const quota = { ...LEFT, closedUntil: NOW + MINUTE, limit: '429' } as const;
    const attempt = { ...POLLED, lastAttemptAt: NOW - 3 * HOUR };
    expect(scheduled({ quota, attempt })).toMatchObject({ pace: pace(2 * HOUR), nextAttemptAt: NOW + MINUTE });
  });

  it('shows no wait if the reset comes less than an interval after the source is due', () => {
    const at = NOW + 2.9 * HOUR;
    const soon = { quota: { ...SPENT, closedUntil: at, resetsAt: at }, plannedMs: 31 * DAY };
    expect(scheduled(soon)).toMatchObject({ pace: KEPT, nextAttemptAt: at, wait: undefined });
    expect(scheduled({ ...soon, attempt: { ...POLLED, lastAttemptAt: NOW - 2 * HOUR } }).wait).toBeDefined();
  });

  it('asks for the plan with the first read of each bucket that has something to read', () => {
    const reads = [
      { name: 'idle', due: () => Number.POSITIVE_INFINITY },
      { name: 'asker', everyMs: HOUR },
      { name: 'other', everyMs: HOUR },
      { name: 'elsewhere', everyMs: HOUR, endpoints: ['epoch_slots'] as const },
    ];
    const source = fakeSource({ reads });
    const view: BudgetView = {
      ...allowed(10_000),
      bucketOf: (_source, { endpoints: [endpoint] }) => endpoint,
      quotaOf: () => ({ ...LEFT, askedAt: NOW - MINUTE }),
      keyAt: () => 0,
    };
    const dueNow = (lastAttemptAt: number) =>
      valueFor(schedulesOf([known(source, { lastAttemptAt })], view, AT), source)
        .reads.filter(({ nextAttemptAt }) => nextAttemptAt <= NOW)
        .map(({ read }) => read.name);
    expect(dueNow(NOW - MINUTE - 1)).toEqual(['asker', 'elsewhere']);
    expect(dueNow(NOW - MINUTE)).toEqual([]);
  });

  it('shows no wait for the quota while the key is refused or revoked', () => {
    for (const keyAt of [NOW + DAY, Number.POSITIVE_INFINITY]) {
      expect(scheduled({ plannedMs: 31 * DAY, keyAt }).wait).toBeUndefined();
    }
  });
});

describe('scheduler/schedules: readiness', () => {
  const tried = entryOf(fakeSource(), { failuresInARow: 1, lastAttemptAt: NOW });
  const viewed = ({
    nextAttemptAt = NOW,
    ...overrides
  }: Partial<SourceView & { nextAttemptAt: number }>): SourceView => {
    const source = fakeSource();
    const [read] = source.reads;
    const first = { read, bucket: '', pace: pace(MINUTE), timing: timing(), mayRunAt: NOW, nextAttemptAt };
    const base = { source, entry: emptyEntry(source), inputs: NO_INPUTS, timing: timing(), running: false };
    return { ...base, first, reads: [first], leftOut: [], ...overrides };
  };

  it.each([
    ['false if nothing was tried', {}, false],
    ['false while a first poll runs', { running: true, nextAttemptAt: NOW + MINUTE }, false],
    ['true after a first attempt, however it went', { entry: tried }, true],
    ['true if a first attempt may not be made yet', { nextAttemptAt: NOW + 1 }, true],
    ['true if access is revoked', { nextAttemptAt: Number.POSITIVE_INFINITY }, true],
  ] as const)('is %s', (_name, overrides, ready) => {
    expect(isReady([viewed({ entry: tried }), viewed(overrides)], NOW)).toBe(ready);
    expect(isReady([], NOW)).toBe(true);
  });
});
