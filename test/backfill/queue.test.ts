import { describe, expect, it } from 'vitest';
import { type Plan, type Slice, slicesOf, splitSpan } from '../../src/backfill/plan.ts';
import { afterSlice, isShortEnough, nextSlice, resultOf } from '../../src/backfill/queue.ts';
import { Spacing } from '../../src/backfill/spacing.ts';
import { planOf } from '../support/backfill.ts';

const HOUR = 3_600;

/** Slices of four hours. */
function planWith(more: Partial<Plan> = {}): Plan {
  const slices = slicesOf('machines', splitSpan({ start: 0, end: 12 * HOUR }, 4 * HOUR), 30, 0);
  return { ...planOf(slices, 12 * HOUR), ...more };
}

function sliceOf(plan: Plan, id: number): Slice {
  const slice = plan.slices.find((one) => one.id === id);
  if (!slice) throw new Error(`no slice ${id}`);
  return slice;
}

/** Of one series with records this far apart. */
function spacingOf(seconds: number, records: number): Spacing {
  const spacing = new Spacing();
  for (let i = 0; i < records; i += 1) spacing.add('a', i * seconds);
  return spacing;
}

describe('backfill/queue', () => {
  it('gives the oldest slice that nobody has begun, and its halves in its place', () => {
    const plan = planWith();
    expect(nextSlice(plan, new Set()).slice?.id).toBe(0);
    expect(nextSlice(plan, new Set([0, 1])).slice?.id).toBe(2);
    const halved = afterSlice(plan, sliceOf(plan, 0), { kind: 'thinned' });
    const { slice } = nextSlice(halved, new Set([0]));
    expect(slice).toMatchObject({ id: 3, range: { start: 0, end: 2 * HOUR }, expected: 5 });
    expect(nextSlice(planWith(), new Set([0, 1, 2]))).toEqual({ plan: planWith(), slice: undefined });
  });

  it('halves those that are as long as one that was thinned before they are read', () => {
    const plan = afterSlice(planWith(), sliceOf(planWith(), 0), { kind: 'thinned' });
    const next = nextSlice(plan, new Set([3, 4]));
    expect(next.slice).toMatchObject({ range: { start: 4 * HOUR, end: 6 * HOUR }, expected: 5 });
    expect(next.plan.slices.map(({ range }) => range)).toEqual([
      ...splitSpan({ start: 0, end: 8 * HOUR }, 2 * HOUR),
      { start: 8 * HOUR, end: 12 * HOUR },
    ]);
    // As short as it takes.
    const short = nextSlice(planWith({ thinnedSeconds: 1.5 * HOUR }), new Set());
    expect(short.slice?.range).toEqual({ start: 0, end: HOUR });
    expect(short.plan.slices).toHaveLength(5);
  });

  it('never halves a slice of an hour, or an evaluation window', () => {
    const slices = slicesOf('machines', [{ start: 0, end: HOUR }, { window: '7d' }], 2, 9);
    const plan = planWith({ thinnedSeconds: 60, slices });
    expect(nextSlice(plan, new Set())).toEqual({ plan, slice: slices[0] });
    expect(nextSlice(plan, new Set([9]))).toEqual({ plan, slice: slices[1] });
  });

  it('knows from a full slice that others as long come in full, whatever shorter ones show later', () => {
    const plan = afterSlice(planWith(), sliceOf(planWith(), 0), { kind: 'full' });
    expect(isShortEnough(plan, sliceOf(plan, 1))).toBe(true);
    const [hour] = slicesOf('machines', [{ start: 0, end: HOUR }], 1, 9);
    if (!hour) throw new Error('no slice');
    expect(afterSlice(plan, hour, { kind: 'full' }).fullSeconds).toBe(4 * HOUR);
    expect(isShortEnough(planWith(), hour)).toBe(false);
  });

  it('takes back what a series that sends seldom made it believe', () => {
    const plan = planWith({ thinnedSeconds: 4 * HOUR, slow: [['b', 120]] });
    const after = afterSlice(plan, sliceOf(plan, 0), { kind: 'sparse', slow: [['a', 300]] });
    expect(after.slow).toEqual([
      ['b', 120],
      ['a', 300],
    ]);
    expect(nextSlice(after, new Set([0]))).toEqual({ plan: after, slice: sliceOf(plan, 1) });
    expect(after.slices).toEqual(plan.slices);
  });

  it('learns nothing of too few records', () => {
    expect(resultOf(spacingOf(300, 3))).toEqual({ kind: 'unknown' });
    expect(resultOf(spacingOf(60, 20))).toEqual({ kind: 'full' });
    expect(resultOf(spacingOf(300, 20))).toEqual({ kind: 'sparse', slow: [['a', 300]] });
    expect(afterSlice(planWith(), sliceOf(planWith(), 0), { kind: 'unknown' })).toEqual(planWith());
  });
});
