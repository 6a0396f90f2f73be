import { describe, expect, it } from 'vitest';
import { type Bucket, type BudgetOptions, EMPTY_BUCKET } from '../../src/budget/bucket.ts';
import { noteTaken } from '../../src/budget/others.ts';
import { BudgetClosed } from '../../src/budget/permit.ts';
import { closedBeside, type Needs, QuotaKept, type Spare, spareOf } from '../../src/budget/spare.ts';
import { DAY, HOUR, MINUTE } from '../support/timing.ts';

const OPTIONS: BudgetOptions = { utilization: 0.9 };
const OCTOBER = Date.UTC(2026, 9, 1);
const NOVEMBER = Date.UTC(2026, 10, 1);
/** Ten days before the month ends. */
const AT = NOVEMBER - 10 * DAY;
const NEEDS: Needs = { perDay: 240, atOnce: 5 };

function bucketWith(windows: Pick<Bucket, 'hour' | 'month' | 'others'>): Bucket {
  return { ...EMPTY_BUCKET, limits: { second: 2 }, firstUseAt: OCTOBER, lastUseAt: AT, ...windows };
}

const month = (own: number, limit = 10_000) => ({ limit, own, since: OCTOBER });

function spare(windows: Pick<Bucket, 'hour' | 'month' | 'others'>, needs = NEEDS): Spare {
  return spareOf(bucketWith(windows), needs, OPTIONS, AT);
}

describe('budget/spare', () => {
  it('leaves of the month what ten days of polls do not need', () => {
    expect(spare({ month: month(1_000) }).month).toBe(8_000 - 2_400 - 5);
  });

  it('counts what the service says is left, and what others are expected to take of it', () => {
    expect(spare({ month: { ...month(1_000), remaining: 5_000 } }).month).toBe(5_000 - 2_400 - 5);
    let others: Bucket['others'];
    for (let day = 10; day >= 0; day -= 1) others = noteTaken(others, (10 - day) * 100, OCTOBER, AT - day * DAY);
    expect(spare({ month: { ...month(1_000), remaining: 5_000 }, others }).month).toBe(5_000 - 2_400 - 5 - 1_050);
  });

  it('leaves nothing beside polls that need more than there is', () => {
    expect(spare({ month: month(7_000) }).month).toBe(0);
  });

  it('leaves of the hour what is beyond a whole hour of polls, and a tenth in any case', () => {
    const hour = { limit: 100, own: 20, since: AT };
    expect(spare({ hour }).hour).toBe(90 - 20 - 15);
    expect(spare({ hour: { ...hour, own: 0 } }, { perDay: 24_000, atOnce: 5 }).hour).toBe(9);
  });

  it('leaves of the rate what the polls do not take, and a tenth in any case', () => {
    expect(spare({}, { perDay: 86_400, atOnce: 0 }).perSecond).toBeCloseTo(0.8);
    expect(spare({}, { perDay: 200_000, atOnce: 0 }).perSecond).toBeCloseTo(0.18);
  });

  it('without limits of an hour or month names none', () => {
    expect(spare({})).toEqual({ perSecond: expect.any(Number) });
  });

  it.each([
    ['something is left', { hour: 1, month: 1 }, false, undefined],
    ['nothing is limited', {}, false, undefined],
    ['the month is used up', { month: 0 }, false, NOVEMBER],
    ['the month is used up and more was agreed', { month: 0 }, true, undefined],
    ['the hour is used up', { hour: 0, month: 1 }, false, AT + HOUR],
    ['the hour is used up and more was agreed', { hour: 0, month: 0 }, true, AT + HOUR],
  ])('where %s', (_, left, isAgreed, until) => {
    const now = AT + 20 * MINUTE;
    const closed = closedBeside({ perSecond: 1, ...left }, bucketWith({ month: month(0) }), isAgreed, OPTIONS, now);
    expect(closed).toEqual(until === undefined ? undefined : new BudgetClosed(until));
    expect(closed instanceof QuotaKept).toBe(until === NOVEMBER);
  });
});
