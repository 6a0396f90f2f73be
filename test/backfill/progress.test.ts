import { describe, expect, it } from 'vitest';
import { Meter, progressLine } from '../../src/backfill/progress.ts';
import { planOf } from '../support/programs/backfill.ts';

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
  it('expects what was made and what is left', () => {
    const meter = new Meter(PLAN, new Map([[SECOND.id, 4]]));
    meter.page(FIRST, 9);
    meter.page(SECOND, 0);
    expect([meter.done, meter.expected]).toEqual([2, 11]);
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
