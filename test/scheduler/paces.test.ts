import { describe, expect, it } from 'vitest';
import { isMaterialChange, pacesOf } from '../../src/scheduler/paces.ts';
import type { Coverage, Pace, Source } from '../../src/sources/source.ts';
import { fakeSource } from '../support/fake-source.ts';
import { configured } from '../support/month.ts';
import { HOUR, MINUTE } from '../support/timing.ts';

function asked(...sources: readonly Source[]) {
  return sources.map((source) => ({ source, requestsPerPoll: 1 }));
}

function pace(intervalMs: number, coverage: Pace['coverage'] = 'full', requestsPerDay = 1): Pace {
  return { intervalMs, requestsPerDay, coverage };
}

describe('scheduler/paces', () => {
  it('leaves every interval as configured where the budget allows it', () => {
    const [a, b] = [fakeSource(), fakeSource({ intervalMs: HOUR })];
    const paces = pacesOf(asked(a, b), { bucketOf: () => 'one', allowedPerDay: () => Number.POSITIVE_INFINITY });
    expect([paces.get(a)?.intervalMs, paces.get(b)?.intervalMs]).toEqual([MINUTE, HOUR]);
  });

  it('divides what one bucket allows by weight', () => {
    const [a, b] = [fakeSource({ weight: 3 }), fakeSource({ weight: 1 })];
    const paces = pacesOf(asked(a, b), { bucketOf: () => 'one', allowedPerDay: () => 96 });
    expect([paces.get(a)?.requestsPerDay, paces.get(b)?.requestsPerDay]).toEqual([72, 24]);
  });

  it('does not take from one bucket what another lacks', () => {
    const [poor, rich] = [fakeSource(), fakeSource({ name: 'slashings' })];
    const paces = pacesOf(asked(poor, rich), {
      bucketOf: (source) => (source === poor ? 'poor' : 'rich'),
      allowedPerDay: (bucket) => (bucket === 'poor' ? 24 : 100_000),
    });
    expect([paces.get(poor)?.intervalMs, paces.get(rich)?.intervalMs]).toEqual([HOUR, MINUTE]);
  });

  it('counts what a poll was seen to cost', () => {
    const source = fakeSource();
    const paces = pacesOf([{ source, requestsPerPoll: 10 }], { bucketOf: () => 'one', allowedPerDay: () => 240 });
    expect(paces.get(source)?.intervalMs).toBe(HOUR);
  });

  it('gives no interval shorter than a poll was seen to take, and what that leaves to the others', () => {
    const [long, other] = [fakeSource(), fakeSource({ name: 'slashings' })];
    const asking = [
      { source: long, requestsPerPoll: 10, msPerPoll: 2 * MINUTE },
      { source: other, requestsPerPoll: 10, msPerPoll: MINUTE / 2 },
    ];
    const paces = pacesOf(asking, { bucketOf: () => 'one', allowedPerDay: () => 21_600 });
    expect(paces.get(long)).toEqual(pace(2 * MINUTE, 'full', 7_200));
    expect(paces.get(other)).toEqual(pace(MINUTE, 'full', 14_400));
    const scarce = pacesOf(asking.slice(0, 1), { bucketOf: () => 'one', allowedPerDay: () => 240 });
    expect(scarce.get(long)).toEqual(pace(HOUR, 'full', 240));
  });

  it('never gives an interval that no number can be written for, however little is left', () => {
    const source = fakeSource();
    const paces = pacesOf(asked(source), { bucketOf: () => 'one', allowedPerDay: () => 0 });
    expect(Number.isFinite(paces.get(source)?.intervalMs)).toBe(true);
    expect(Number.isFinite(paces.get(source)?.requestsPerDay)).toBe(true);
  });

  it('goes on with what the last poll covered where a share has only just become enough for more', () => {
    const [source] = configured().filter(({ name }) => name === 'slashings');
    if (!source) throw new TypeError('no slashings');
    const allowance = { bucketOf: () => 'one', allowedPerDay: () => 700 };
    const coverageAfter = (coverage: Coverage | undefined) =>
      pacesOf([{ source, requestsPerPoll: 1, coverage }], allowance).get(source)?.coverage;
    expect([undefined, 'full', 'finalized', 'sampled'].map((before) => coverageAfter(before as Coverage))).toEqual([
      'full',
      'full',
      'finalized',
      'finalized',
    ]);
  });

  it('is worth telling when an interval changes by a quarter, what is covered changes, or a source is new', () => {
    const [a, b] = [fakeSource(), fakeSource()];
    const before = new Map([[a, pace(MINUTE)]]);
    expect(isMaterialChange(before, new Map([[a, pace(MINUTE * 1.24)]]))).toBe(false);
    expect(isMaterialChange(before, new Map([[a, pace(MINUTE * 1.25)]]))).toBe(true);
    expect(isMaterialChange(before, new Map([[a, pace(MINUTE / 1.24)]]))).toBe(false);
    expect(isMaterialChange(before, new Map([[a, pace(MINUTE / 1.25)]]))).toBe(true);
    expect(isMaterialChange(before, new Map([[a, pace(MINUTE, 'finalized')]]))).toBe(true);
    expect(
      isMaterialChange(
        before,
        new Map([
          [a, pace(MINUTE)],
          [b, pace(MINUTE)],
        ]),
      ),
    ).toBe(true);
  });
});
