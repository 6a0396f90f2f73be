import { expect } from 'vitest';
import type { Family, Sample } from '../../../src/toolkit/exposition/family.ts';
import { DAY, NOW } from '../time/timing.ts';

const NEVER = Number.POSITIVE_INFINITY;

/**
 * Each sample is shown as it is up to the moment until which it says that it holds, and not any more at that moment.
 * Returns the first of these moments. Infinity: there is none.
 */
export function expectFirstChange(at: (now: number) => readonly Family[], now = NOW): number {
  const shown = samplesBySeries(at(now));
  const moments = Map.groupBy(shown, ([, { until = NEVER }]) => until);
  for (const [until, samples] of moments) {
    expect(until).toBeGreaterThan(now);
    const before = samplesBySeries(at(until === NEVER ? now + 100 * DAY : until - 1));
    const then = until === NEVER ? undefined : samplesBySeries(at(until));
    for (const [series, sample] of samples) {
      expect(before.get(series)?.value, series).toBe(sample.value);
      if (then) expect(then.get(series), series).not.toEqual(sample);
    }
  }
  return Math.min(...moments.keys(), NEVER);
}

function samplesBySeries(families: readonly Family[]): Map<string, Sample> {
  const samples = families.flatMap(({ name, samples }) =>
    [...samples].map((one) => [`${name}${one.suffix ?? ''} ${JSON.stringify(one.labels)}`, one] as const),
  );
  return new Map(samples);
}
