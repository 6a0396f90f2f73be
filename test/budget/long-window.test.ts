import { describe, expect, it } from 'vitest';
import {
  calendarEnd,
  charge,
  LongWindow,
  lastsUntil,
  refund,
  report,
  rolled,
  uncharge,
  usable,
} from '../../src/budget/long-window.ts';
import { DAY, HOUR } from '../support/timing.ts';

const OCTOBER = Date.UTC(2026, 9, 1);
const NOVEMBER = Date.UTC(2026, 10, 1);

function window(overrides: Partial<LongWindow> = {}): LongWindow {
  return { limit: 1_000, own: 0, since: OCTOBER, ...overrides };
}

const said = { limit: 1_000, remaining: undefined, before: undefined, unaccounted: 0 };

describe('budget/long-window', () => {
  describe('ends', () => {
    it.each([
      ['2026-10-01T00:00:00.000Z', '2026-11-01T00:00:00.000Z'],
      ['2026-10-31T23:59:59.999Z', '2026-11-01T00:00:00.000Z'],
      ['2026-12-31T12:00:00.000Z', '2027-01-01T00:00:00.000Z'],
      ['2028-02-29T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ])('a month from %s on at %s', (at, end) => {
      expect(new Date(calendarEnd('month', Date.parse(at))).toISOString()).toBe(end);
    });

    it.each([
      ['2026-10-01T10:00:00.000Z', '2026-10-01T11:00:00.000Z'],
      ['2026-10-31T23:59:59.999Z', '2026-11-01T00:00:00.000Z'],
    ])('an hour from %s on at %s', (at, end) => {
      expect(new Date(calendarEnd('hour', Date.parse(at))).toISOString()).toBe(end);
    });

    it('and what may be a trial no earlier than 30 days after its first use', () => {
      const firstUse = OCTOBER + 19 * DAY;
      const started = window({ since: firstUse });
      expect(lastsUntil('month', started, firstUse)).toBe(firstUse + 30 * DAY);
      // A legacy quota of an old account: the month it is.
      expect(lastsUntil('month', started, firstUse - 300 * DAY)).toBe(NOVEMBER);
      expect(lastsUntil('month', window({ limit: 1_001, since: firstUse }), firstUse)).toBe(NOVEMBER);
      expect(lastsUntil('hour', started, firstUse)).toBe(firstUse + HOUR);
    });
  });

  describe('when it is over', () => {
    it('is a new one, of which nothing is known but its limit', () => {
      const before = window({ limit: 50_000, own: 700, remaining: 4 });
      const roll = (at: number): LongWindow => rolled('month', before, { firstUseAt: OCTOBER }, at, 0.9);
      expect(roll(NOVEMBER - 1)).toBe(before);
      expect(roll(NOVEMBER)).toEqual({ limit: 50_000, own: 0, since: NOVEMBER });
      expect(rolled('hour', before, { firstUseAt: OCTOBER }, OCTOBER + HOUR, 0.9)).toEqual({
        limit: 50_000,
        own: 0,
        since: OCTOBER + HOUR,
      });
    });

    it('of a trial goes on through the month start, but where it is used up asks again then', () => {
      const firstUse = OCTOBER + 19 * DAY;
      const left = window({ since: firstUse, own: 300 });
      expect(rolled('month', left, { firstUseAt: firstUse }, NOVEMBER + DAY, 0.9)).toBe(left);
      expect(rolled('month', left, { firstUseAt: firstUse }, firstUse + 30 * DAY, 0.9)).toMatchObject({ own: 0 });
      const usedUp = window({ since: firstUse, own: 900 });
      expect(rolled('month', usedUp, { firstUseAt: firstUse }, NOVEMBER - 1, 0.9)).toBe(usedUp);
      expect(rolled('month', usedUp, { firstUseAt: firstUse }, NOVEMBER, 0.9)).toMatchObject({
        own: 0,
        since: NOVEMBER,
      });
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
      expect(report(undefined, { ...said, remaining: 972 }, OCTOBER)).toEqual(window({ own: 1, remaining: 972 }));
      expect(report(undefined, said, OCTOBER)).toEqual(window({ own: 1 }));
    });

    it('what others have spent', () => {
      const known = window({ own: 10, remaining: 900 });
      expect(report(known, { ...said, remaining: 700, before: 901 }, OCTOBER)).toEqual(
        window({ own: 10, remaining: 700 }),
      );
    });

    it('less than it says, while requests are under way that it may not know of', () => {
      const known = window({ own: 10, remaining: 900 });
      expect(report(known, { ...said, remaining: 700, before: 901, unaccounted: 4 }, OCTOBER)).toEqual(
        window({ own: 10, remaining: 696 }),
      );
      expect(report(known, { ...said, remaining: 2, before: 901, unaccounted: 4 }, OCTOBER).remaining).toBe(0);
      expect(report(undefined, { ...said, remaining: 700, unaccounted: 4 }, OCTOBER)).toEqual(
        window({ own: 5, remaining: 696 }),
      );
    });

    it('nothing of what is left where it does not say so: a missing header is not a zero', () => {
      const known = window({ own: 10, remaining: 900 });
      expect(report(known, { ...said, before: 901 }, OCTOBER)).toEqual(known);
    });

    it('another limit, at once', () => {
      const known = window({ own: 10, remaining: 900 });
      expect(report(known, { ...said, limit: 5_000 }, OCTOBER)).toEqual({ ...known, limit: 5_000 });
    });

    it('that it was renewed, where more is left than before by more than a few', () => {
      const known = window({ own: 400, remaining: 100 });
      const at = NOVEMBER + 5;
      expect(report(known, { ...said, remaining: 999, before: 101 }, at)).toEqual(
        window({ own: 1, remaining: 999, since: at }),
      );
      expect(report(known, { ...said, remaining: 999, before: 101, unaccounted: 2 }, at)).toEqual(
        window({ own: 3, remaining: 997, since: at }),
      );
      // Answers that overtook each other.
      expect(report(known, { ...said, remaining: 121, before: 101 }, at)).toEqual(window({ own: 400, remaining: 121 }));
    });

    it('no renewal from requests of ours that never arrived', () => {
      let known = report(undefined, { ...said, remaining: 900 }, OCTOBER);
      for (let i = 0; i < 50; i += 1) known = charge(known);
      expect(report(known, { ...said, remaining: 899, before: 900 }, OCTOBER + DAY)).toMatchObject({
        own: 51,
        remaining: 899,
        since: OCTOBER,
      });
    });
  });

  it('survives being written and read', () => {
    for (const value of [window(), window({ own: 3, remaining: 10 })]) {
      expect(LongWindow.parse(JSON.parse(JSON.stringify(value)))).toEqual(value);
    }
  });
});
