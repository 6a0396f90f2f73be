import { expect } from 'vitest';
import { DAY, NOW } from '../time/timing.ts';

/** What is shown at a time changes at `next` for the first time after NOW. Infinity: never. */
export function expectFirstChange(next: number, at: (now: number) => unknown): void {
  expect(next).toBeGreaterThan(NOW);
  if (next === Number.POSITIVE_INFINITY) {
    expect(at(NOW + 100 * DAY)).toEqual(at(NOW));
  } else {
    expect(at(next - 1)).toEqual(at(NOW));
    expect(at(next)).not.toEqual(at(NOW));
  }
}
