import { describe, expect, it } from 'vitest';
import { perSecondOf as perSecondOfBucket } from '../../src/budget/bucket.ts';
import { bucketOf, bucketsOf, emptyLedger, type Ledger, lacking } from '../../src/budget/ledger.ts';
import { NOW } from '../support/time/timing.ts';
import { bucket } from './queue.ts';
import { opensAt, told } from './told.ts';

const V1 = 'epoch_slots https://v1';
const V2 = 'machine_metrics https://v2';
const OTHER = 'sync_committee https://v2';

const perSecondOf = (ledger: Ledger, name: string): number =>
  perSecondOfBucket(ledger.buckets[name], { utilization: 1 });

describe('budget/ledger: buckets', () => {
  it('remember how many seconds of killed processes no answer has accounted for', () => {
    expect(lacking(lacking(emptyLedger(), 5_000), 5_000).buckets).toMatchObject({ '': { lacksMs: 10_000 } });
  });

  it('number at most 16, and a route with one more stays in its own', () => {
    let ledger = emptyLedger();
    for (let i = 0; i < 100; i += 1) ledger = told(ledger, i % 2 === 0 ? V1 : V2, { headers: bucket(`b${i}`, 1) });
    expect(Object.keys(ledger.buckets)).toHaveLength(16);
    expect([V1, V2].map((route) => bucketOf(ledger, route))).toEqual(['b14', 'b15']);
  });

  it('get the first name that an answer has, for all routes, and keep their limits', () => {
    const unnamed = told(emptyLedger(), V2, { headers: { 'x-ratelimit-limit-second': '3' } });
    expect(unnamed.routes).toEqual({});
    const named = told(unnamed, V1, { headers: { 'ratelimit-bucket': 'default' } });
    expect(Object.keys(named.buckets)).toEqual(['default']);
    expect(bucketOf(named, V2)).toBe('default');
    expect(perSecondOf(named, 'default')).toBe(3);
  });

  it('move a single route when its answer names another bucket', () => {
    let ledger = told(emptyLedger(), V1, { headers: bucket('default', 5) });
    ledger = told(ledger, V2, { headers: bucket('oldsubnewapi', 1) });
    expect([V1, V2, OTHER].map((route) => bucketOf(ledger, route))).toEqual(['default', 'oldsubnewapi', 'default']);
    expect(bucketsOf(ledger, V2)).toEqual(['oldsubnewapi']);
    expect(bucketsOf(ledger, OTHER)).toEqual(['', 'default', 'oldsubnewapi']);
    expect(perSecondOf(ledger, 'default')).toBe(5);
    expect(perSecondOf(ledger, 'oldsubnewapi')).toBe(1);
    ledger = told(ledger, V2, { headers: bucket('default', 5) });
    expect(bucketOf(ledger, V2)).toBe('default');
  });
});

describe('budget/ledger: 429', () => {
  it('closes the bucket for all its routes, for at least the reset', () => {
    const closed = told(emptyLedger(), V1, { status: 429, headers: { 'ratelimit-reset': '30' } });
    for (const route of [V1, V2]) expect(opensAt(closed, route)).toBe(NOW + 30_000);
  });

  it('never shortens a wait', () => {
    const long = told(emptyLedger(), V1, { status: 429, headers: { 'ratelimit-reset': '3600' } });
    for (const headers of [{ 'ratelimit-reset': '1' }, {}]) {
      expect(opensAt(told(long, V1, { status: 429, headers }), V1)).toBe(NOW + 3_600_000);
    }
    expect(opensAt(told(long, V1, {}), V1)).toBe(NOW + 3_600_000);
  });

  it('waits 60 s without a reset, doubling to an hour', () => {
    let ledger = emptyLedger();
    const waits: number[] = [];
    for (let at = NOW; waits.length < 9; at = opensAt(ledger, V1)) {
      ledger = told(ledger, V1, { status: 429, at, headers: { 'ratelimit-reset': '99999999' } });
      waits.push((opensAt(ledger, V1) - at) / 1000);
    }
    expect(waits).toEqual([60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600]);
  });

  it('waits 60 s again after an answer, or after a reset that could be read', () => {
    const blind = told(emptyLedger(), V1, { status: 429 });
    const at = opensAt(blind, V1);
    for (const between of [{ status: 500 }, { status: 429, headers: { 'ratelimit-reset': '1' } }]) {
      const next = at + 1_000;
      const ledger = told(told(blind, V1, { ...between, at }), V1, { status: 429, at: next });
      expect(opensAt(ledger, V1) - next).toBe(60_000);
    }
  });

  /** The waits after these answers, in seconds. Each answer comes right after the wait before. */
  function waitsAfter(answers: readonly (string | number)[], lateMs = 0): number[] {
    let [ledger, at] = [emptyLedger(), NOW];
    return answers.map((answer) => {
      const refusal = { status: 429, headers: { 'ratelimit-reset': String(answer) } };
      ledger = told(ledger, V1, typeof answer === 'string' ? { ...refusal, at } : { status: answer, at });
      const waitMs = opensAt(ledger, V1) - at;
      at = Math.max(at, opensAt(ledger, V1)) + lateMs;
      return Math.max(0, waitMs / 1000);
    });
  }

  it('treats the third wait of 0 in a row, and all after it, as unreadable, until a 200 or another wait', () => {
    const row = Array.from({ length: 10 }, () => '0');
    expect(waitsAfter(row)).toEqual([1, 1, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
    expect(waitsAfter(['0', '0', 200, '0', '0', 200, '0', '0', '0'])).toEqual([1, 1, 0, 1, 1, 0, 1, 1, 60]);
    expect(waitsAfter([...row.slice(0, 4), 200, '0', '0', '0'])).toEqual([1, 1, 60, 120, 0, 1, 1, 60]);
    expect(waitsAfter(['0', '0', '1', '0', '0', '7', '0', '0', '0'])).toEqual([1, 1, 1, 1, 1, 7, 1, 1, 60]);
    // Long after the wait, another client may have used up the second.
    expect(waitsAfter(row.slice(0, 4), 61_000)).toEqual([1, 1, 1, 1]);
  });

  it('counts the refusals of requests that left together as one', () => {
    let ledger = told(emptyLedger(), V1, { status: 429 });
    for (const ms of [1, 50, 400]) ledger = told(ledger, V1, { status: 429, at: NOW + ms });
    // A minute after the last one, not doubled.
    expect(opensAt(ledger, V1)).toBe(NOW + 60_400);
    // A success that was sent before the bucket closed does not end the doubling.
    ledger = told(ledger, V1, { at: NOW + 500 });
    ledger = told(ledger, V1, { status: 429, at: NOW + 60_400 });
    expect(opensAt(ledger, V1)).toBe(NOW + 180_400);
  });
});
