import { describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/world.ts';
import { BOTH_CHAINS } from '../../support/default-config.ts';
import { configured, type Month, runMonth } from '../../support/month.ts';
import { DAY, HOUR } from '../../support/timing.ts';

/** A month of 31 days. */
const OCTOBER = Date.UTC(2026, 9, 1);
const MONTH_HOURS = 31 * 24;

const TRIAL = { plan: 'free_trial', machines: 3, slotsPerSlashing: Number.POSITIVE_INFINITY } as const;

function used({ sandbox }: { sandbox: Sandbox }): number {
  return sandbox.account.inMonth;
}

/** Every source was polled on each of its days, to the last: a sync committee's day has 27.3 hours. */
function expectPolledThroughout({ longestGap }: Month): void {
  for (const [id, hours] of Object.entries(longestGap)) {
    expect(hours, id).toBeLessThan(id.startsWith('sync_committee') ? 30 : 24);
  }
}

describe('system/simulation/month', () => {
  it('the trial: 1,000 requests last 31 days, and are used', async () => {
    const month = await runMonth({ start: OCTOBER, hours: MONTH_HOURS, sandbox: TRIAL, sources: configured() });
    expect(month.refused).toEqual({});
    expect(used(month.sim)).toBeGreaterThanOrEqual(895);
    expectPolledThroughout(month);
    expect(month.longestGap['machines']).toBeLessThan(5);
    expect(month.withdrawn).toEqual([]);
  });

  it('the trial with another consumer who takes 300 in bursts', async () => {
    const bursts: Record<number, number> = { 53: 50, 125: 50, 221: 35, 222: 15, 341: 50, 485: 50, 570: 50 };
    const month = await runMonth({
      start: OCTOBER,
      hours: MONTH_HOURS,
      sandbox: TRIAL,
      sources: configured(),
      eachHour: (sim, hour) => sim.sandbox.spend(bursts[hour] ?? 0, sim.clock.now()),
    });
    expect(month.refused).toEqual({});
    expect(used(month.sim)).toBeGreaterThanOrEqual(850);
    expect(used(month.sim)).toBeLessThanOrEqual(1_000);
    expectPolledThroughout(month);
    expect(month.withdrawn).toEqual([]);
  });

  it.each([
    ['renews with the calendar', true],
    ['is for all of the 30 days', false],
  ])('the trial from the 20th on, where the quota %s', async (_title, renews) => {
    const month = await runMonth({
      start: OCTOBER + 19 * DAY,
      hours: 30 * 24,
      sandbox: TRIAL,
      sources: configured(),
      eachHour: ({ sandbox, clock }, hour) => {
        if (!renews && hour === (12 * DAY) / HOUR) sandbox.spend(used({ sandbox }), clock.now());
      },
    });
    expect(month.refused).toEqual({});
    expectPolledThroughout(month);
    expect(month.withdrawn).toEqual([]);
    // Sweeps are delayed by up to a tenth of the interval.
    if (renews) expect(month.requests).toBeGreaterThan(880);
    // It is planned to the end of the second month, where the trial is over before.
    else expect(month.requests).toBeGreaterThan(700);
  });

  it('Hobbyist with two chains and 50 machines: everything as configured', async () => {
    const days = 1;
    const month = await runMonth({
      start: OCTOBER,
      hours: days * 24,
      sandbox: { plan: 'hobbyist', machines: 50 },
      sources: configured(BOTH_CHAINS),
    });
    expect(month.refused).toEqual({});
    for (const { source, pace } of month.sim.scheduler.views()) {
      expect([pace.intervalMs, pace.coverage], source.name).toEqual([source.intervalMs, 'full']);
    }
    expect(month.withdrawn).toEqual([]);
    expect(month.sim.plans).toHaveLength(1);
  });
});
