import { describe, expect, it } from 'vitest';
import { type RateSeen, runAtRate } from '../../support/rate-run.ts';

/** On average 100 ms, by which a permit that is used again a second after its answer is still in time for 0.9 a second. */
const QUICK = [20, 180] as const;
/** On average 160 ms, up to which at least 90 % of the rate is used. */
const SLOW = [20, 300] as const;
const MINUTES = { warmUpMinutes: 10, minutes: 20 };

function expectMet({ machines, slashings, logged, refused }: RateSeen): void {
  expect(refused).toBe(0);
  for (const { told, met } of [machines, slashings]) expect(Math.abs(met / told - 1)).toBeLessThanOrEqual(0.1);
  expect(machines.longest).toBeLessThanOrEqual(1.15 * machines.told);
  // A change of less than a quarter is not logged.
  expect(Math.abs(machines.met / logged - 1)).toBeLessThanOrEqual(0.25);
}

describe('fleet: at the limit of a plan', () => {
  it.each([
    { plan: 'hobbyist', machines: 360 },
    { plan: 'business', machines: 720 },
  ] as const)('$machines machines fit $plan, and are read every minute, give or take the jitter', async (fleet) => {
    const { machines, slashings, ...seen } = await runAtRate({ ...fleet, ...MINUTES, latencyMs: QUICK });
    expectMet({ machines, slashings, ...seen });
    expect(machines.shortest).toBeGreaterThanOrEqual(59.999);
    expect(machines.longest).toBeLessThanOrEqual(66.001);
    expect(slashings.shortest).toBeCloseTo(65, 3);
    expect(slashings.longest).toBeCloseTo(65, 3);
  });

  it.each([
    { plan: 'hobbyist', machines: 480, latencyMs: QUICK, least: 0.95 },
    { plan: 'hobbyist', machines: 480, latencyMs: SLOW, least: 0.9 },
    { plan: 'business', machines: 1_000, latencyMs: QUICK, least: 0.95 },
    { plan: 'business', machines: 1_000, latencyMs: SLOW, least: 0.9 },
    { plan: 'scale', machines: 5_000, latencyMs: QUICK, least: 0.95 },
    { plan: 'scale', machines: 5_000, latencyMs: SLOW, least: 0.9 },
  ] as const)(
    '$machines machines, more than $plan carries, latency $latencyMs ms: the interval told is met, $least of the rate used',
    async ({ least, ...fleet }) => {
      const seen = await runAtRate({ ...fleet, ...MINUTES });
      expectMet(seen);
      expect(seen.machines.told).toBeGreaterThan(61);
      expect(seen.share).toBeGreaterThanOrEqual(least);
      expect(seen.share).toBeLessThanOrEqual(1);
    },
  );

  it.each([390, 410, 430, 450])('%i machines are no cliff at the edge of Hobbyist', async (machines) => {
    for (const latencyMs of [QUICK, SLOW]) {
      const seen = await runAtRate({ plan: 'hobbyist', machines, latencyMs, ...MINUTES });
      expectMet(seen);
      expect(seen.machines.met).toBeLessThan(80);
    }
  });
});
