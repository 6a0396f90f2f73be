import { describe, expect, it } from 'vitest';
import { type Bucket, type BudgetOptions, chargeBucket, EMPTY_BUCKET } from '../../src/budget/bucket.ts';
import { emptyLedger, Ledger, quotaIn } from '../../src/budget/ledger.ts';
import { type Quota, quotaOf } from '../../src/budget/quota.ts';
import { RateLimiter } from '../../src/budget/rate-limiter.ts';
import { DAY, HOUR, MINUTE, NOW } from '../support/timing.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { Queue } from './queue.ts';

const BUDGET_OPTIONS: BudgetOptions = { utilization: 0.9 };
const OCTOBER = Date.UTC(2026, 9, 1);
const NOVEMBER = Date.UTC(2026, 10, 1);
const AT = OCTOBER + 4 * DAY;

function bucketWith(own: number, overrides: Partial<Bucket> = {}, limit = 10_000): Bucket {
  const month = { limit, own, since: OCTOBER };
  const use = { firstUseAt: OCTOBER, lastUseAt: AT };
  return { ...EMPTY_BUCKET, limits: { second: 1, month: limit }, ...use, month, ...overrides };
}

function quota(bucket: Bucket, now = AT): Quota {
  return quotaOf(bucket, BUDGET_OPTIONS, now);
}

describe('budget/quota', () => {
  it('is open while our share is not spent, and renews with the month', () => {
    expect(quota(bucketWith(8_999))).toMatchObject({ opensAt: 0, limit: 'month', renewsAt: NOVEMBER });
  });

  it('opens at the renewal where our share is spent, or nothing is left for anybody', () => {
    const nothing = { month: { limit: 10_000, own: 1, remaining: 0, since: OCTOBER } };
    for (const bucket of [bucketWith(9_000), bucketWith(1, nothing)]) {
      expect(quota(bucket)).toMatchObject({ opensAt: NOVEMBER, limit: 'month', renewsAt: NOVEMBER });
    }
  });

  it('of an hour opens at the full hour', () => {
    const hour = { limit: 100, own: 90, since: AT + MINUTE };
    const spent = quota(bucketWith(100, { hour }), AT + 2 * MINUTE);
    expect(spent).toMatchObject({ opensAt: AT + HOUR, limit: 'hour', renewsAt: AT + HOUR });
  });

  it('tells a wait that a 429 asked for from one of our own count', () => {
    expect(quota(bucketWith(1, { closedUntil: NOVEMBER }))).toMatchObject({ opensAt: NOVEMBER, limit: '429' });
  });

  it('of a trial that began within the month may last for its thirty days, but is looked for at the start of a month', () => {
    const bucket = bucketWith(100, { firstUseAt: AT, month: { limit: 1_000, own: 100, since: AT } });
    expect(quota(bucket).renewsAt).toBe(AT + 30 * DAY);
    const spent = { ...bucket, month: { limit: 1_000, own: 900, since: AT } };
    expect(quota(spent)).toMatchObject({ opensAt: NOVEMBER, renewsAt: NOVEMBER });
  });

  it('whole is planned for all of a month, whatever is left of this one', () => {
    for (const own of [0, 5_000, 9_000]) expect(quota(bucketWith(own)).wholePerDay).toBeCloseTo(9_000 / 31);
    const { month: _, ...plain } = bucketWith(0, { limits: { second: 1 } });
    expect(quota(plain)).toMatchObject({ wholePerDay: 0.9 * 86_400, renewsAt: Infinity, opensAt: 0 });
  });

  it('lets one request ask a day after the last one left, or after the time that a 429 named', () => {
    expect(quota(bucketWith(9_000)).probeAt).toBe(AT + DAY);
    expect(quota(chargeBucket(bucketWith(9_000), BUDGET_OPTIONS, AT + HOUR)).probeAt).toBe(AT + HOUR + DAY);
    expect(quota(bucketWith(9_000, { closedUntil: NOVEMBER - 500 })).probeAt).toBe(NOVEMBER - 500 + DAY);
  });

  it('does not ask with a key that is refused or revoked', () => {
    const { lastUseAt: _, ...bucket } = bucketWith(9_000);
    const ledger = { ...emptyLedger(), buckets: { default: bucket }, shared: 'default' };
    const probeAt = (standing: Ledger['key']['standing']): number =>
      quotaIn({ ...ledger, key: { ...ledger.key, standing, since: AT } }, 'default', BUDGET_OPTIONS, AT).probeAt;
    expect(probeAt('valid')).toBeLessThan(AT);
    expect(probeAt('refused')).toBe(AT + 10 * MINUTE);
    expect(probeAt('revoked')).toBe(Infinity);
  });
});

describe('budget/rateLimiter: a quota that is used up', () => {
  const LEFT_OVER = { 'x-ratelimit-limit-second': '5', 'x-ratelimit-limit-month': '1000' };
  const isOut = (line: string): boolean => !line.includes('closed');

  /** Our share is spent by the first request. */
  async function spent(remaining: string): Promise<Queue> {
    const queue = new Queue({ utilization: 0.001 });
    await queue.ask('a');
    await queue.answer('a', 200, { ...LEFT_OVER, 'x-ratelimit-remaining-month': remaining });
    return queue;
  }

  it('lets one request a day leave and turns away the others, until the renewal', async () => {
    const queue = await spent('700');
    // NOW is twelve hours before the end of September; a trial lasts for thirty days.
    await queue.clock.advance(DAY / 2);
    await queue.ask('renewed');
    await queue.answer('renewed', 200, { ...LEFT_OVER, 'x-ratelimit-remaining-month': '700' });
    for (let hour = 1; hour < 5 * 24; hour += 1) {
      await queue.clock.advance(HOUR);
      for (const name of ['x', 'y']) await queue.ask(`${name} ${hour}`);
      const last = queue.log.findLast(isOut) ?? '';
      await queue.answer(last, 200, { ...LEFT_OVER, 'x-ratelimit-remaining-month': '700' });
    }
    expect(queue.log.filter(isOut)).toEqual(['a', 'renewed', 'x 24', 'x 48', 'x 72', 'x 96']);
    // Those who are turned away are told of the renewal, and not of the next question.
    expect(queue.log.at(-1)).toBe(`y 119: closed until ${NOVEMBER - queue.clock.now()}`);
  });

  it('asks a day after a start with a clock that was set back', async () => {
    const before = await spent('700');
    const clock = new VirtualClock(NOW - 5 * DAY);
    const ledger = Ledger.parse(JSON.parse(JSON.stringify(before.rateLimiter.ledger)));
    const after = new RateLimiter({ utilization: 0.001 }, { clock, ledger });
    expect(quotaIn(after.ledger, '', { utilization: 0.001 }, clock.now()).probeAt).toBe(NOW - 4 * DAY);
  });

  it('asks no sooner after a restart, and not at all once a 429 has said until when', async () => {
    const queue = await spent('700');
    const saved = Ledger.parse(JSON.parse(JSON.stringify(queue.rateLimiter.ledger)));
    expect(saved.buckets['']?.lastUseAt).toBe(NOW);
    await queue.clock.advance(DAY);
    await queue.ask('b');
    const reset = String(20 * 86_400);
    await queue.answer('b', 429, { ...LEFT_OVER, 'x-ratelimit-remaining-month': '0', 'ratelimit-reset': reset });
    for (let day = 1; day < 20; day += 1) {
      await queue.clock.advance(DAY);
      await queue.ask(`day ${day}`);
    }
    expect(queue.log.filter(isOut)).toEqual(['a', 'b']);
    expect(queue.opensAt()).toBeGreaterThanOrEqual(NOW + 21 * DAY);
  });
});
