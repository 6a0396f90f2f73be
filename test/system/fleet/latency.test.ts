import { describe, expect, it } from 'vitest';
import { backlogRate } from '../../support/backlog-rate.ts';
import { FleetRun } from '../../support/fleet-run.ts';

describe('fleet: latency', () => {
  it.each([
    { latencyMs: 300, machines: 1_000, plan: 'scale', perSecond: 5, pageSizeOver: 'each' },
    { latencyMs: 300, machines: 1_000, plan: 'scale', perSecond: 5, pageSizeOver: 'all' },
    { latencyMs: 300, machines: 5_000, plan: 'scale', perSecond: 5, pageSizeOver: 'each' },
    { latencyMs: 600, machines: 1_000, plan: 'scale', perSecond: 5, pageSizeOver: 'each' },
    { latencyMs: 600, machines: 400, plan: 'business', perSecond: 2, pageSizeOver: 'each' },
  ] as const)(
    '$latencyMs ms are hidden in a sweep of $machines machines at $perSecond a second, pages over $pageSizeOver',
    async ({ perSecond, ...options }) => {
      const rate = await backlogRate(perSecond, options.latencyMs);
      const run = new FleetRun(options);
      const [, ...steady] = await run.sweep(4);
      for (const { requests, durationMs } of steady) {
        expect(durationMs / 1_000).toBeLessThanOrEqual((1.15 * requests.length) / rate);
      }
      expect(run.refused).toBe(0);
      await run.sim.stop();
    },
  );
});
