import { describe, expect, it } from 'vitest';
import { MembersAnswer } from '../../src/api/answers/sync-committee.ts';
import { epochTime } from '../../src/facts/chain.ts';
import { get, NOW, read, refusalOf, sandboxOf } from './call.ts';

it('gives the example period of the facts, 256 epochs with inclusive ends', () => {
  const body = { sync_committee_period: { view: 'latest' }, chain: 'mainnet' };
  expect(read(sandboxOf(), '/api/v2/ethereum/sync-committee', body, Date.UTC(2026, 2, 20))).toEqual({
    data: { period: 1700, finality: 'not_finalized' },
    range: {
      epoch: { start: 435_200, end: 435_455 },
      slot: { start: 13_926_400, end: 13_934_591 },
      timestamp: {
        start: Date.UTC(2026, 2, 19, 17, 20, 23) / 1000,
        end: Date.UTC(2026, 2, 20, 20, 38, 47) / 1000 - 1,
      },
    },
  });
});

describe('members', () => {
  const watched = { validators: { mainnet: [3, 4], hoodi: [] }, slots: 8 };
  const members = (selector: string | number, now = NOW, sandbox = sandboxOf({ watched })) =>
    get(sandbox, `/api/v1/sync_committee/${selector}`, now);
  const dataOf = (selector: string | number, now = NOW): { period: number; validators: number[] } =>
    JSON.parse(members(selector, now).body).data;

  it('are 512 seats, the same at each call and others in each period', () => {
    const { validators, ...rest } = dataOf('latest');
    expect(rest).toEqual({ period: 1595, start_epoch: 408_320, end_epoch: 408_575 });
    expect(validators).toHaveLength(512);
    expect(new Set(validators).size).toBeLessThan(512);
    expect(validators.filter((validator) => [3, 4].includes(validator))).toHaveLength(2);
    expect(dataOf(1595)).toEqual(dataOf('latest'));
    expect(dataOf('next')).toEqual(dataOf(1596));
    expect(dataOf('next').validators).not.toEqual(validators);
    MembersAnswer.parse(JSON.parse(members('next').body));
  });

  it('are unknown for the period after the next, and in the first four epochs for the next', () => {
    expect(dataOf(1597)).toEqual([]);
    const start = 1000 * epochTime('mainnet', 408_320);
    // A block takes a slot to arrive.
    const known = start + 12_000 + 4 * 384_000;
    expect([dataOf('next', known - 1), dataOf(1596, known - 1)]).toEqual([[], []]);
    expect(dataOf('next', known).period).toBe(1596);
    MembersAnswer.parse(JSON.parse(members('next', known - 1).body));
  });

  it('refuses another period', () => {
    expect(refusalOf(members('first'))).toMatchObject({ status: 400, body: { data: null } });
  });
});
