import { describe, expect, it } from 'vitest';
import {
  allowedPerDay,
  type Bucket,
  chargeBucket,
  EMPTY_BUCKET,
  unchargeBucket,
  usedByOthers,
  windowAt,
} from '../../src/budget/bucket.ts';
import { DAY, HOUR } from '../support/time/timing.ts';
import { BUDGET_OPTIONS, held, NOVEMBER, OCTOBER, toldBucket } from './told.ts';

/** A request of ours and its answer. `left`: what the answer says is left of the month's 1,000. */
function told(bucket: Bucket, left: number | undefined, at = OCTOBER, status = 200): Bucket {
  const limits = { 'x-ratelimit-limit-second': '1', 'x-ratelimit-limit-month': '1000' };
  const said = left === undefined ? {} : { ...limits, 'x-ratelimit-remaining-month': String(left) };
  return toldBucket(bucket, said, { at, status });
}

const used = (bucket: Bucket): number | undefined => usedByOthers(bucket, 'month');

/** Ten days with six requests of ours a day, and `perDay` of others. */
function tenDays(perDay: number): Bucket {
  let bucket = EMPTY_BUCKET;
  for (let turn = 1; turn <= 60; turn += 1) {
    bucket = told(bucket, 1_000 - turn - Math.floor((turn * perDay) / 6), OCTOBER + turn * 4 * HOUR);
  }
  return bucket;
}

const AFTER = OCTOBER + 10 * DAY;

describe('budget/bucket: the requests of others', () => {
  it('exclude ours that are in flight, failed, were refunded, or got an answer without the remaining requests', () => {
    const known = told(EMPTY_BUCKET, 960);
    expect(used(chargeBucket(known, BUDGET_OPTIONS, OCTOBER))).toBe(39);
    expect(used(told(known, undefined))).toBe(39);
    expect(used(unchargeBucket(chargeBucket(known, BUDGET_OPTIONS, OCTOBER), BUDGET_OPTIONS, OCTOBER))).toBe(39);
    const refunded = told(known, 959, OCTOBER, 500);
    expect(used(told(refunded, 959))).toBe(39);
    // Never below 0, whatever the answers say.
    expect(used(told(known, 1_000))).toBe(0);
  });

  it('exclude what a killed process may have sent in its last seconds at our rate', () => {
    const lost = (known: Bucket, left: number, kills = 1) => told({ ...known, lacksMs: kills * 5_000 }, left);
    const first = lost(told(EMPTY_BUCKET, 960), 942);
    expect([used(first), used(told(first, 930))]).toEqual([51, 62]);
    // After two kills, and without an earlier answer.
    expect([used(lost(told(EMPTY_BUCKET, 960), 942, 2)), used(lost(EMPTY_BUCKET, 990))]).toEqual([46, 4]);
  });

  it('are unknown if no answer reports them, or if the window is filler or new', () => {
    expect(used(EMPTY_BUCKET)).toBeUndefined();
    expect(used(told(EMPTY_BUCKET, undefined))).toBeUndefined();
    expect(usedByOthers(told(EMPTY_BUCKET, 960), 'hour')).toBeUndefined();
    // A trial's window may last beyond the month.
    const paid = { limit: 50_000, remaining: 40_000, own: 1, since: OCTOBER };
    const bucket = { ...EMPTY_BUCKET, limits: { second: 1, month: 50_000 }, month: paid };
    expect([used(bucket), used(held(bucket, NOVEMBER))]).toEqual([9_999, undefined]);
    expect(used({ ...bucket, limits: { second: 5 } })).toBeUndefined();
  });

  it('are reserved until the end of the month, and the rest is ours', () => {
    for (const perDay of [6, 12, 18]) {
      const bucket = tenDays(perDay);
      const left = 1_000 - 60 - 10 * perDay;
      expect(Math.abs(allowedPerDay(bucket, BUDGET_OPTIONS, AFTER) - (left - 21.5 * perDay) / 21)).toBeLessThan(2);
    }
    // If others take all of it, we still take a quarter: the quota ends early anyway.
    expect(allowedPerDay(tenDays(60), BUDGET_OPTIONS, AFTER)).toBeCloseTo((0.25 * 340) / 21);
  });

  it('are not projected from their first hour, and are counted again after the clock was set back', () => {
    const first = told(told(EMPTY_BUCKET, 999), 988, OCTOBER + HOUR);
    expect(windowAt(first, 'month', BUDGET_OPTIONS, OCTOBER + HOUR)?.reserved).toBeCloseTo(10 * 31.5, -1);
    const ahead = told(EMPTY_BUCKET, 999, AFTER + 5 * DAY);
    const back = told(told(ahead, 900, AFTER), 899, AFTER + HOUR);
    expect(windowAt(back, 'month', BUDGET_OPTIONS, AFTER + HOUR)?.reserved).toBe(0);
  });

  it('are counted again from the start of the month', () => {
    let bucket = tenDays(12);
    for (let turn = 1; turn <= 12; turn += 1) bucket = told(bucket, 1_000 - turn * 3, NOVEMBER + turn * 4 * HOUR);
    expect(used(bucket)).toBe(24);
    // 12 a day in the 44 hours since the first answer of this month.
    const { reserved = 0 } = windowAt(bucket, 'month', BUDGET_OPTIONS, NOVEMBER + 2 * DAY) ?? {};
    expect(reserved).toBeCloseTo((22 / (44 / 24)) * 28.5, 0);
  });
});
