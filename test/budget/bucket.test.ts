import { describe, expect, it } from 'vitest';
import {
  allowedPerDay,
  type Bucket,
  type BudgetOptions,
  chargeBucket,
  EMPTY_BUCKET,
  NO_WAIT,
  perSecondOf,
  quotaOf,
  settled,
  windowAt,
} from '../../src/budget/bucket.ts';
import { WINDOWS } from '../../src/budget/headers.ts';
import { DAY, HOUR, MINUTE } from '../support/time/timing.ts';
import { BUDGET_OPTIONS, held, NOVEMBER, OCTOBER, RENEWAL, toldBucket as told } from './told.ts';

/** Limits and remaining requests as the service writes them. Minute and day only repeat other windows. */
function headers(
  limits: readonly [second: number, hour: number, month: number],
  remaining: readonly [second: number, hour: number, month: number] = [0, limits[1] - 1, limits[2] - 1],
): Record<string, string> {
  const [second, hour, month] = [0, 1, 2] as const;
  const columns = { second, minute: hour, hour, day: month, month };
  return Object.fromEntries(
    WINDOWS.flatMap((window) => [
      [`x-ratelimit-limit-${window}`, String(limits[columns[window]])],
      [`x-ratelimit-remaining-${window}`, String(remaining[columns[window]])],
    ]),
  );
}

const opensAt = (bucket: Bucket, now: number, options = BUDGET_OPTIONS): number =>
  quotaOf(held(bucket, now), options, now).closedUntil;
const monthAt = (bucket: Bucket, now: number) => windowAt(held(bucket, now), 'month', BUDGET_OPTIONS, now);

const trial = (left: number): Record<string, string> => headers([1, 1_000, 1_000], [0, left, left]);
const hobbyist = headers([1, 1, 1], [0, 0, 0]);

it('never allows more than the limit per second, however soon the month ends', () => {
  const bucket = told(EMPTY_BUCKET, headers([1, 50_000, 50_000]));
  expect(allowedPerDay(bucket, BUDGET_OPTIONS, NOVEMBER - 1)).toBeCloseTo(0.9 * 86_400);
});

describe('filler', () => {
  it('includes minute, day, and an hour that repeats the month', () => {
    const bucket = told(EMPTY_BUCKET, {
      ...trial(972),
      'x-ratelimit-limit-minute': '7',
      'x-ratelimit-remaining-minute': '0',
      'x-ratelimit-limit-day': '30',
      'x-ratelimit-remaining-day': '0',
    });
    expect(opensAt(bucket, OCTOBER)).toBe(0);
    expect(bucket.hour).toBeUndefined();
    expect(allowedPerDay(bucket, BUDGET_OPTIONS, OCTOBER)).toBeCloseTo(899 / 31);
  });

  it('includes a month limit of 0 that is no revocation', () => {
    const bucket = told(EMPTY_BUCKET, headers([5, 0, 0], [4, 0, 0]));
    expect(opensAt(bucket, OCTOBER)).toBe(0);
    expect(allowedPerDay(bucket, BUDGET_OPTIONS, OCTOBER)).toBeCloseTo(5 * 0.9 * 86_400);
  });
});

it('closes an hour that is used up, if it differs from the month, until the next full hour', () => {
  const at = OCTOBER + HOUR / 2;
  const bucket = told(EMPTY_BUCKET, headers([5, 100, 50_000], [4, 0, 40_000]), { at });
  expect(opensAt(bucket, at)).toBe(OCTOBER + HOUR + 2 * MINUTE);
  expect(opensAt(bucket, OCTOBER + HOUR)).toBe(0);
  expect(held(bucket, OCTOBER + HOUR).hour).toEqual({ limit: 100, own: 0, since: OCTOBER + HOUR });
  expect(monthAt(bucket, OCTOBER + HOUR)).toMatchObject({ limit: 50_000, remaining: 40_000 });
});

describe('month', () => {
  it('of a trial renews at the start of the month, unless an answer says otherwise', () => {
    const first = OCTOBER + 19 * DAY;
    const bucket = told(EMPTY_BUCKET, trial(600), { at: first });
    expect(monthAt(bucket, NOVEMBER - 1)).toMatchObject({ left: 600, resetsAt: RENEWAL, end: first + 30 * DAY });
    expect(monthAt(bucket, NOVEMBER)).toMatchObject({ left: 900, end: NOVEMBER + 30 * DAY });
    const asked = told(bucket, trial(599), { at: NOVEMBER });
    expect(monthAt(asked, NOVEMBER)).toMatchObject({ left: 599, reserved: 0 });
    // Once used up, it waits for the next month.
    expect(opensAt(told(asked, trial(0), { at: NOVEMBER }), NOVEMBER)).toBe(RENEWAL + 30 * DAY);
    // A later month of a legacy quota, and a larger quota, end with the month.
    const old = { ...bucket, firstUseAt: OCTOBER - 300 * DAY };
    expect(monthAt(old, first)?.end).toBe(NOVEMBER);
    const large = told(EMPTY_BUCKET, headers([1, 1_001, 1_001]), { at: first });
    expect(monthAt(large, first)?.end).toBe(NOVEMBER);
  });

  it('loses nothing in a long outage, because errors without headers do not count', () => {
    let bucket = told(EMPTY_BUCKET, trial(972));
    for (let i = 0; i < 2_000; i += 1) bucket = told(bucket, {}, { status: i % 2 ? 503 : 429 });
    expect(monthAt(bucket, OCTOBER)).toMatchObject({ left: 899, remaining: 972, own: 1 });
  });

  it('leaves a share to others, and opens again at the UTC start of the month', () => {
    let bucket = EMPTY_BUCKET;
    for (let sent = 1; sent <= 900; sent += 1) {
      expect(opensAt(bucket, OCTOBER)).toBe(0);
      bucket = told(bucket, trial(1_000 - sent));
    }
    expect(bucket.month).toMatchObject({ own: 900, remaining: 100 });
    expect(opensAt(bucket, NOVEMBER - 1)).toBe(RENEWAL);
    expect(opensAt(bucket, NOVEMBER)).toBe(0);
    expect(allowedPerDay(bucket, BUDGET_OPTIONS, OCTOBER)).toBe(0);
    expect(allowedPerDay(held(bucket, NOVEMBER), BUDGET_OPTIONS, NOVEMBER)).toBeCloseTo(900 / 30);
  });

  it('ends when its end has held for two minutes, or when an answer is about the next month', () => {
    const jumped = { at: NOVEMBER + 10 * DAY, held: OCTOBER + 20 * DAY };
    const ahead = told(told(EMPTY_BUCKET, trial(600), { at: OCTOBER }), trial(599), jumped);
    expect(ahead.month).toMatchObject({ own: 2, remaining: 599 });
    const back = held(ahead, OCTOBER + 20 * DAY);
    expect(back.month).toMatchObject({ own: 2, remaining: 599 });
    expect(held(back, NOVEMBER).month).toEqual({ limit: 1_000, own: 0, since: NOVEMBER });
    const renewed = told(back, trial(999), { at: NOVEMBER + MINUTE, held: NOVEMBER - MINUTE });
    const { month } = told(renewed, trial(998), { at: NOVEMBER + 3 * MINUTE });
    expect(month).toMatchObject({ own: 2, remaining: 998, others: { since: NOVEMBER + MINUTE, before: 0 } });
    // Once used up, it stays closed until that time has held.
    const usedUp = settled(told(EMPTY_BUCKET, trial(0)), { now: jumped.at, held: jumped.held });
    expect(quotaOf(usedUp, BUDGET_OPTIONS, jumped.at).closedUntil).toBe(jumped.at + 2 * MINUTE);
  });

  it('stays part of the plan while the operator asks for the plan, used up or not', () => {
    for (const left of [0, 500]) {
      const asking = { ...told(EMPTY_BUCKET, trial(left)), askedAt: OCTOBER };
      expect(quotaOf(asking, BUDGET_OPTIONS, OCTOBER)).toMatchObject({ isMonthly: true, askedAt: OCTOBER });
    }
    expect(quotaOf(told(EMPTY_BUCKET, hobbyist), BUDGET_OPTIONS, OCTOBER).isMonthly).toBe(false);
  });
});

it('spends the month again after a renewal that no answer reports', () => {
  const second = { 'x-ratelimit-limit-second': '1' };
  const refusal = { ...second, 'x-ratelimit-limit-month': '1000', 'x-ratelimit-remaining-month': '0' };
  const usedUp = told(EMPTY_BUCKET, { ...refusal, 'ratelimit-reset': String(31 * 86_400) }, { status: 429 });
  expect(opensAt(usedUp, OCTOBER)).toBe(RENEWAL);
  const asked = told(usedUp, {}, { at: NOVEMBER });
  expect(asked.month).toEqual({ limit: 1_000, own: 1, since: NOVEMBER });
  expect(opensAt(asked, NOVEMBER)).toBeLessThanOrEqual(NOVEMBER);
});

describe('a configured plan', () => {
  const PLAN: BudgetOptions = { utilization: 0.9, perSecond: 1, perMonth: 500 };

  it('applies before the first answer, but at no more than one request a second', () => {
    let bucket = EMPTY_BUCKET;
    expect(allowedPerDay(bucket, PLAN, OCTOBER)).toBeCloseTo(450 / 31);
    for (let i = 0; i < 450; i += 1) bucket = chargeBucket(bucket, PLAN, OCTOBER);
    expect(opensAt(bucket, OCTOBER, PLAN)).toBe(RENEWAL);
    expect(allowedPerDay(undefined, PLAN, OCTOBER)).toBeCloseTo(450 / 31);
    const scale = { utilization: 0.9, perSecond: 5 };
    expect([allowedPerDay(undefined, scale, OCTOBER) / 86_400, perSecondOf(undefined, scale)]).toEqual([4.5, 1]);
  });

  it('applies if the service grants more or reports no limit', () => {
    for (const said of [trial(999), hobbyist, {}]) {
      const bucket = told(EMPTY_BUCKET, said, { options: PLAN });
      expect(bucket.month).toMatchObject({ limit: 500, own: 1 });
      expect(allowedPerDay(bucket, PLAN, OCTOBER)).toBeCloseTo(449 / 31);
    }
  });
});

it('tells a wait after a 429 from a quota that is used up, and reports the remaining requests', () => {
  const bucket = told(EMPTY_BUCKET, trial(700));
  expect(quotaOf(bucket, BUDGET_OPTIONS, OCTOBER)).toMatchObject({ closedUntil: 0, limit: 'month', left: 700 });
  const closed = { ...bucket, wait: { ...NO_WAIT, until: OCTOBER + HOUR } };
  expect(quotaOf(closed, BUDGET_OPTIONS, OCTOBER)).toMatchObject({ closedUntil: OCTOBER + HOUR, limit: '429' });
  const { left, end } = quotaOf(told(EMPTY_BUCKET, hobbyist), BUDGET_OPTIONS, OCTOBER);
  expect([left, end]).toEqual([Infinity, Infinity]);
});
