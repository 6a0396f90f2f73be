import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keptForOthers, noteTaken, TakenByOthers } from '../../src/budget/others.ts';
import { cases, PATIENT } from '../support/fuzz.ts';
import { DAY, HOUR } from '../support/timing.ts';

const OCTOBER = Date.UTC(2026, 9, 1);

/** What is known after looking every hour, where `at` says how much others took in each. */
function looked(hours: number, at: (hour: number) => number): TakenByOthers {
  let known: TakenByOthers | undefined;
  let taken = 0;
  for (let hour = 0; hour <= hours; hour += 1) {
    known = noteTaken(known, taken, OCTOBER, OCTOBER + hour * HOUR);
    taken += at(hour);
  }
  return known as TakenByOthers;
}

const evenly =
  (perDay: number) =>
  (hour: number): number =>
    Math.floor((perDay * (hour + 1)) / 24) - Math.floor((perDay * hour) / 24);

describe('budget/others', () => {
  it('expects nothing of what was gone before the first look', () => {
    expect(noteTaken(undefined, 700, OCTOBER, OCTOBER).perDay).toBe(0);
  });

  it.each([5, 10, 20, 30, 500])('learns of %i a day within three days, and keeps to it', (perDay) => {
    for (const days of [3, 4, 5, 7, 14, 30]) {
      const rate = looked(days * 24, evenly(perDay)).perDay;
      expect(Math.abs(rate - perDay), `after ${days} days`).toBeLessThanOrEqual(Math.max(2, perDay * 0.1));
    }
  });

  it('learns of somebody who comes once a day', () => {
    const rate = looked(10 * 24, (hour) => (hour % 24 === 7 ? 20 : 0)).perDay;
    expect(Math.abs(rate - 20)).toBeLessThanOrEqual(3);
  });

  it('learns of somebody who begins within three days, and forgets who ends within a week', () => {
    const begins = (hour: number): number => (hour >= 240 ? evenly(20)(hour) : 0);
    const ends = (hour: number): number => (hour < 240 ? evenly(20)(hour) : 0);
    expect(looked(240 + 24, begins).perDay).toBe(0);
    expect(looked(240 + 74, begins).perDay).toBeGreaterThanOrEqual(18);
    expect(looked(240 + 84, ends).perDay).toBeLessThan(12);
    expect(looked(240 + 7 * 24, ends).perDay).toBe(0);
  });

  it.each([
    ['in an hour', (hour: number) => (hour === 240 ? 400 : 0)],
    ['over midnight', (hour: number) => (hour >= 236 && hour < 244 ? 50 : 0)],
    ['in two days', (hour: number) => (hour >= 230 && hour < 254 ? 20 : 0)],
  ])('takes a burst %s for no rate', (_title, burst) => {
    for (let hour = 240; hour < 600; hour += 5) {
      expect(looked(hour, burst).perDay, `after ${hour} h`).toBe(0);
      const beside = looked(hour, (at) => burst(at) + evenly(10)(at)).perDay;
      expect(Math.abs(beside - 10), `after ${hour} h`).toBeLessThanOrEqual(2);
    }
  });

  it('takes bursts that come every other day for a rate', () => {
    const rate = looked(20 * 24, (hour) => (hour % 48 === 7 ? 50 : 0)).perDay;
    expect(rate).toBeGreaterThanOrEqual(20);
    expect(rate).toBeLessThanOrEqual(30);
  });

  it('is not misled by answers that count requests of ours under way as those of others, until their own come', () => {
    const known = looked(10 * 24, evenly(10));
    const last = known.points.at(-1)?.taken ?? 0;
    const misled = noteTaken(known, last + 8, OCTOBER, OCTOBER + 240 * HOUR + 100);
    const corrected = noteTaken(misled, last, OCTOBER, OCTOBER + 240 * HOUR + 200);
    expect(corrected.perDay).toBe(known.perDay);
    expect(corrected.points.at(-1)?.taken).toBe(last);
  });

  it('goes on over the renewal of the quota, and over a window that is told anew', () => {
    const known = looked(10 * 24, evenly(20));
    const before = known.perDay;
    let next = known;
    for (let hour = 1; hour <= 48; hour += 1) {
      next = noteTaken(next, Math.floor((hour * 20) / 24), OCTOBER + 31 * DAY, OCTOBER + (240 + hour) * HOUR);
      expect(Math.abs(next.perDay - before)).toBeLessThanOrEqual(2);
    }
    // The same, with all that was used before taken for that of others: no burst comes of it.
    const odd = noteTaken(next, 5_000, OCTOBER + 40 * DAY, OCTOBER + 289 * HOUR);
    expect(odd.perDay).toBeCloseTo(next.perDay, 0);
  });

  it('divides what came while nobody looked among the days', () => {
    let known = looked(4 * 24, evenly(20));
    const taken = known.points.at(-1)?.taken ?? 0;
    known = noteTaken(known, taken + 60, OCTOBER, OCTOBER + 7 * DAY);
    expect(Math.abs(known.perDay - 20)).toBeLessThanOrEqual(2);
  });

  it('keeps for them what they take until the end, and for half a day more', () => {
    const known = looked(10 * 24, evenly(24));
    expect(known.perDay).toBe(24);
    expect(keptForOthers(known, OCTOBER + 20 * DAY)).toBe(24 * 10.5);
    expect(keptForOthers(known, OCTOBER + 10 * DAY)).toBe(12);
    expect(keptForOthers(known, OCTOBER)).toBe(0);
    expect(keptForOthers(undefined, OCTOBER + 20 * DAY)).toBe(0);
  });

  it('stays small and is read back as it was, whatever comes, also from a clock that is set', PATIENT, () => {
    const look = fc.record({
      taken: fc.nat(10_000),
      window: fc.nat(2),
      pause: fc.oneof(fc.nat(HOUR), fc.integer({ min: -3 * DAY, max: 40 * DAY })),
    });
    fc.assert(
      fc.property(fc.array(look, { maxLength: 300, size: 'max' }), (looks) => {
        let known: TakenByOthers | undefined;
        let now = OCTOBER;
        for (const { taken, window, pause } of looks) {
          now += pause;
          known = noteTaken(known, taken, window, now);
          const { points, perDay } = known;
          const isBack = points.some(({ at, taken }, i) => {
            const next = points[i + 1];
            return next !== undefined && (next.at < at || next.taken < taken);
          });
          if (isBack || points.length > 46 || !Number.isFinite(perDay) || perDay < 0)
            throw new Error('not as it should');
        }
        if (known) expect(TakenByOthers.parse(JSON.parse(JSON.stringify(known)))).toEqual(known);
      }),
      cases(200),
    );
  });
});
