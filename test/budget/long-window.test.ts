import { describe, expect, it } from 'vitest';
import {
  charge,
  expectedOfOthers,
  LongWindow,
  refund,
  report,
  uncharge,
  usable,
  windowEnd,
} from '../../src/budget/long-window.ts';
import { DAY, HOUR } from '../support/timing.ts';

const OCTOBER = Date.UTC(2026, 9, 1);
const NOVEMBER = Date.UTC(2026, 10, 1);

function window(overrides: Partial<LongWindow> = {}): LongWindow {
  return { limit: 1_000, own: 0, since: OCTOBER, ...overrides };
}

const said = { limit: 1_000, granted: 1_000, remaining: undefined, unaccounted: 0 };

describe('budget/long-window', () => {
  describe('ends', () => {
    it.each([
      ['2026-10-01T00:00:00.000Z', '2026-11-01T00:00:00.000Z'],
      ['2026-10-31T23:59:59.999Z', '2026-11-01T00:00:00.000Z'],
      ['2026-12-31T12:00:00.000Z', '2027-01-01T00:00:00.000Z'],
      ['2028-02-29T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ])('a month from %s on at %s', (at, end) => {
      expect(new Date(windowEnd('month', Date.parse(at))).toISOString()).toBe(end);
    });

    it.each([
      ['2026-10-01T10:00:00.000Z', '2026-10-01T11:00:00.000Z'],
      ['2026-10-31T23:59:59.999Z', '2026-11-01T00:00:00.000Z'],
    ])('an hour from %s on at %s', (at, end) => {
      expect(new Date(windowEnd('hour', Date.parse(at))).toISOString()).toBe(end);
    });
  });

  describe('leaves', () => {
    it('the share of the limit, less what was ours', () => {
      expect(usable(window({ own: 100 }), 0.9)).toBe(800);
      expect(usable(window({ own: 899 }), 0.9)).toBe(1);
      expect(usable(window({ own: 900 }), 0.9)).toBe(0);
      expect(usable(window({ own: 950 }), 0.9)).toBe(0);
      // No fraction of a request.
      expect(usable(window({ limit: 15 }), 0.9)).toBe(13);
      expect(usable(window({ own: 100 }), 1)).toBe(900);
    });

    it('no more than is left for everybody', () => {
      expect(usable(window({ own: 100, remaining: 250 }), 0.9)).toBe(250);
      expect(usable(window({ own: 100, remaining: 0 }), 0.9)).toBe(0);
      expect(usable(window({ own: 100, remaining: -3 }), 0.9)).toBe(0);
    });
  });

  describe('counts', () => {
    it('a request that leaves, against our share and against what is left', () => {
      expect(charge(window({ own: 3, remaining: 10 }))).toEqual(window({ own: 4, remaining: 9 }));
      expect(charge(window())).toEqual(window({ own: 1 }));
    });

    it('and no more a request that got no answer', () => {
      for (const before of [window({ own: 3, remaining: 10 }), window({ own: 3 })]) {
        expect(uncharge(charge(before))).toEqual(before);
      }
      // It left in the window before.
      expect(uncharge(window())).toEqual(window());
    });

    it('a request that the service gives back not as ours, and believes the answer on what is left', () => {
      expect(refund(window({ own: 3, remaining: 10 }))).toEqual(window({ own: 2, remaining: 10 }));
      expect(refund(window())).toEqual(window());
    });
  });

  describe('learns from an answer', () => {
    it('what there is, where nothing was known: the request itself was ours', () => {
      expect(report(undefined, { ...said, remaining: 972 }, OCTOBER)).toMatchObject(window({ own: 1, remaining: 972 }));
      expect(report(undefined, said, OCTOBER)).toEqual(window({ own: 1 }));
    });

    it('what others have spent', () => {
      const known = window({ own: 10, remaining: 900 });
      expect(report(known, { ...said, remaining: 700 }, OCTOBER)).toMatchObject(window({ own: 10, remaining: 700 }));
    });

    it('less than it says, while requests are under way that it may not know of', () => {
      const known = window({ own: 10, remaining: 900 });
      expect(report(known, { ...said, remaining: 700, unaccounted: 4 }, OCTOBER)).toMatchObject(
        window({ own: 10, remaining: 696 }),
      );
      expect(report(known, { ...said, remaining: 2, unaccounted: 4 }, OCTOBER).remaining).toBe(0);
      expect(report(undefined, { ...said, remaining: 700, unaccounted: 4 }, OCTOBER)).toMatchObject(
        window({ own: 5, remaining: 696 }),
      );
    });

    it('nothing of what is left where it does not say so: a missing header is not a zero', () => {
      const known = window({ own: 10, remaining: 900 });
      expect(report(known, said, OCTOBER)).toEqual(known);
    });

    it('another limit, at once', () => {
      const known = window({ own: 10, remaining: 900 });
      expect(report(known, { ...said, limit: 5_000 }, OCTOBER)).toEqual({ ...known, limit: 5_000 });
    });

    it('that the service has begun a new count, where it counts less than ours alone', () => {
      const known = window({ own: 400, remaining: 100, others: { since: OCTOBER, before: 20 } });
      const at = NOVEMBER - DAY;
      const renewed = report(known, { ...said, remaining: 997, unaccounted: 2 }, at);
      expect(renewed).toEqual(window({ own: 5, remaining: 995, others: { since: OCTOBER, before: 0 } }));
      // The limit from which the service counts, not a smaller configured one.
      expect(report(known, { ...said, limit: 500, remaining: 700 }, at).own).toBe(300);
    });
  });

  describe('expects of others', () => {
    /** The window after answers that say what is left, each a day after the one before. */
    function looked(...remaining: number[]): LongWindow {
      return remaining.reduce<LongWindow | undefined>(
        (known, left, day) => report(known && charge(known), { ...said, remaining: left }, OCTOBER + day * DAY),
        undefined,
      ) as LongWindow;
    }
    const expected = (known: LongWindow, day: number, endDay: number): number =>
      expectedOfOthers(known, 1_000 - (known.remaining ?? 0) - known.own, OCTOBER + endDay * DAY, OCTOBER + day * DAY);

    it('as many a day as since the first answer, until the end and for half a day more', () => {
      // 10 a day.
      expect(expected(looked(999, 988, 977, 966, 955), 4, 30)).toBeCloseTo(10 * 26.5);
    });

    it('nothing of what they took before it', () => {
      expect(expected(looked(400), 0, 30)).toBe(0);
      expect(expected(looked(400, 399, 398), 2, 30)).toBe(0);
      expect(expected(looked(400, 389, 378), 2, 30)).toBeCloseTo(10 * 28.5);
    });

    it('no more than what they took, on the first day', () => {
      const known = report(charge(looked(999)), { ...said, remaining: 948 }, OCTOBER + HOUR);
      expect(expectedOfOthers(known, 50, OCTOBER + DAY, OCTOBER + HOUR)).toBeCloseTo((50 * 35) / 24);
    });
  });

  it('survives being written and read', () => {
    for (const value of [window(), window({ own: 3, remaining: 10, others: { since: OCTOBER, before: 2 } })]) {
      expect(LongWindow.parse(JSON.parse(JSON.stringify(value)))).toEqual(value);
    }
  });
});
