import { describe, expect, it } from 'vitest';
import { type Covered, freeSpans, isScraped, recordTest } from '../../src/backfill/covered.ts';

const COVERED: Covered = {
  ended: [
    { start: 100.25, end: 200.75 },
    { start: 300.5, end: 400.5 },
  ],
  current: { start: 500.5, end: 900.25, first: [['late', 450]] },
};

describe('backfill/covered', () => {
  it.each([
    [
      { start: 0, end: 1_000 },
      [
        { start: 0, end: 101 },
        { start: 200, end: 301 },
        { start: 400, end: 501 },
        { start: 900, end: 1_000 },
      ],
    ],
    [{ start: 120, end: 180 }, []],
    [{ start: 150, end: 250 }, [{ start: 200, end: 250 }]],
    [{ start: 210, end: 290 }, [{ start: 210, end: 290 }]],
    [{ start: 600, end: 899 }, []],
  ])('free in %j is %j, in whole seconds', (span, free) => {
    expect(freeSpans(span, COVERED)).toEqual(free);
  });

  it('without scrapes everything is free', () => {
    expect(freeSpans({ start: 1, end: 2 }, { ended: [] })).toEqual([{ start: 1, end: 2 }]);
  });

  it('a record is covered from the first scraped one of its group on', () => {
    const isCovered = recordTest(COVERED);
    expect([100, 101, 200.75, 201, 449, 450, 901].map((at) => isCovered('late', at))).toEqual([
      false,
      true,
      true,
      false,
      false,
      true,
      false,
    ]);
    expect([449, 450, 500.5].map((at) => isCovered('other', at))).toEqual([false, false, true]);
  });

  it('a time is scraped whatever the group', () => {
    expect([99, 150, 250, 450, 600, 1_000].map((at) => isScraped(COVERED, at))).toEqual([
      false,
      true,
      false,
      false,
      true,
      false,
    ]);
  });
});
