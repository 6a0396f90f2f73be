import { expect, it } from 'vitest';
import { runAtRate } from './rate.ts';

/** On average 160 ms, up to which at least 90 % of the rate is used. */
const SLOW = [20, 300] as const;

it.each([
  { plan: 'hobbyist', machines: 360, isStretched: false },
  { plan: 'business', machines: 1_000, isStretched: true },
] as const)(
  'fleet: at the limit of a plan, $machines machines on $plan: sweeps keep the reported interval, and a stretched fleet uses the allowed rate',
  async (one) => {
    const { isStretched, ...fleet } = one;
    const seen = await runAtRate({ ...fleet, warmUpMinutes: 10, minutes: 12, latencyMs: SLOW });
    expect(seen.refused).toBe(0);
    for (const { reported, measured } of [seen.machines, seen.slashings])
      expect(Math.abs(measured / reported - 1)).toBeLessThanOrEqual(0.1);
    expect(seen.machines.reported > 61).toBe(isStretched);
    expect(seen.share).toBeLessThanOrEqual(1);
    if (isStretched) expect(seen.share).toBeGreaterThanOrEqual(0.9);
    // A change of less than a quarter is not logged.
    expect(Math.abs(seen.machines.measured / seen.logged - 1)).toBeLessThanOrEqual(0.25);
  },
);
