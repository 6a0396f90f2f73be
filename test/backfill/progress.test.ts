import { describe, expect, it } from 'vitest';
import { Meter, progressLine } from '../../src/backfill/progress.ts';
import { planOf } from '../support/backfill.ts';

/** Two slices, each expected to take ten requests. */
const PLAN = planOf(
  [
    { start: 0, end: 100 },
    { start: 100, end: 200 },
  ],
  200,
);
const [FIRST, SECOND] = PLAN.slices as [Slice, Slice];
type Slice = (typeof PLAN.slices)[number];

describe('backfill/progress', () => {
  it.each([3, 10, 40])('ends at the number of requests made: %i for a slice', (pages) => {
    const meter = new Meter(PLAN, new Map());
    for (const slice of [FIRST, SECOND]) {
      for (let page = 1; page <= pages; page += 1) meter.page(slice, 10 - (10 * page) / pages);
    }
    expect([meter.done, meter.expected]).toEqual([2 * pages, 2 * pages]);
  });

  it('shows the bar, the requests and the time left, or why nothing is requested', () => {
    const progress = { done: 30, expected: 120, elapsedMs: 60_000, perSecond: 1 };
    expect(progressLine(progress)).toBe('[######..................]  25 %  30 of 120 requests, 3 min left');
    const waiting = { reason: 'the service limits the request rate', ms: 90_000 };
    expect(progressLine({ ...progress, waiting })).toContain('waiting 1 min 30 s: the service limits the request rate');
    expect(progressLine({ ...progress, done: 120 })).toBe(
      '[########################] 100 %  120 of 120 requests, 0 s left',
    );
  });
});
