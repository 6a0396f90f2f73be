import { describe, expect, it } from 'vitest';
import { parseBody } from '../../../src/sandbox/body.ts';
import { dailyReturns } from '../../../src/sandbox/daily-returns.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import { configured, type Month, runMonth } from '../../support/month.ts';
import type { Simulation, SimulationOptions } from '../../support/simulation.ts';
import { DAY } from '../../support/timing.ts';

/** A month of 31 days. */
const OCTOBER = Date.UTC(2026, 9, 1);
const TRIAL = { plan: 'free_trial', machines: 3, slotsPerSlashing: Number.POSITIVE_INFINITY } as const;

interface Trouble extends Partial<SimulationOptions> {
  readonly eachHour?: (sim: Simulation, hour: number) => void;
}

function trialMonth(trouble: Trouble): Promise<Month> {
  return runMonth({ start: OCTOBER, hours: 31 * 24, sandbox: TRIAL, sources: configured(), ...trouble });
}

/** What trouble took away is made up for, and what others have of the quota is left to them. */
function expectUsedUp({ sim, refused }: Month): void {
  expect(refused).toEqual({});
  expect(sim.sandbox.account.inMonth).toBeGreaterThanOrEqual(895);
  expect(sim.sandbox.account.inMonth).toBeLessThanOrEqual(900);
}

const isWeekend = (hour: number): boolean => hour >= 240 && hour < 288;

describe('system/simulation/trouble: the quota of a trial', () => {
  it('is not spent by requests that never arrive: a network that fails twice a day, and once for two days', async () => {
    const month = await trialMonth({
      eachHour: (sim, hour) => {
        sim.offline = isWeekend(hour) || hour % 12 === 5;
      },
    });
    expectUsedUp(month);
    expect(month.longestGap['machines']).toBeLessThan(48 + 4);
  });

  it('is not spent by answers that the service gives back: two days of 500', async () => {
    const month = await trialMonth({
      eachHour: ({ sandbox }, hour) => {
        sandbox.outage = isWeekend(hour);
      },
    });
    expectUsedUp(month);
  });

  it('is not spent on a day that does not come', async () => {
    const old = new Sandbox({ start: OCTOBER });
    const month = await trialMonth({
      instead: (path, body, now) =>
        path.endsWith('-store') ? dailyReturns(old, parseBody(body), Math.min(now, OCTOBER + 5 * DAY)) : undefined,
    });
    expectUsedUp(month);
    expect(month.longestGap['machines']).toBeLessThan(9);
    expect(month.longestGap['slashings-mainnet']).toBeLessThan(9);
  });

  it('is not spent on what is not there', async () => {
    const sandbox = Object.assign(new Sandbox({ ...TRIAL, start: OCTOBER }), { dailyReturnsPath: 'moved' });
    const month = await trialMonth({ sandbox });
    expectUsedUp(month);
    expect(month.longestGap['machines']).toBeLessThan(9);
    expect(month.longestGap['slashings-mainnet']).toBeLessThan(9);
  });
});
