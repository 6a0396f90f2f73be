import { describe, expect, it } from 'vitest';
import { statusOf } from '../../../src/web/status.ts';
import { configured } from '../../support/month.ts';
import { Simulation } from '../../support/simulation.ts';
import { HOUR, MINUTE } from '../../support/timing.ts';
import { restarted } from './restart.ts';

const OCTOBER_10 = Date.UTC(2026, 9, 10);
/** The longest time between two polls of the sources that are polled every minute or so, with their requests. */
const RETRY = 75_000;
const POLLED_OFTEN = ['machines', 'slashings-mainnet'];

const OUTAGES = {
  'every request gets a 500': (sim: Simulation, isDown: boolean) => {
    sim.sandbox.outage = isDown;
  },
  'no request arrives': (sim: Simulation, isDown: boolean) => {
    sim.offline = isDown;
  },
};

async function running(): Promise<Simulation> {
  const sim = new Simulation({ start: OCTOBER_10, sandbox: { machines: 3 }, sources: configured() });
  // No poll is in progress now.
  await sim.clock.advance(HOUR + 5_000);
  return sim;
}

/** Expects that no source has succeeded since `began`, and that those polled often have failed again and again. */
function expectFailing(sim: Simulation, began: number, atLeast: number): void {
  for (const id of POLLED_OFTEN) {
    const { entry } = sim.view(id);
    expect(entry.lastSuccessAt, id).toBeLessThanOrEqual(began);
    expect(entry.failuresInARow, id).toBeGreaterThanOrEqual(atLeast);
  }
}

const NOT_WORKING = 'Not working: sources are failing';

/** The headline of the status page. */
function headline({ scheduler, rateLimiter, clock }: Simulation): string {
  const about = {
    budgetOptions: { utilization: 0.9 },
    version: '',
    startedAt: 0,
    telemetryPath: '',
    isConfigRead: true,
  };
  const known = { views: scheduler.views(), ledger: rateLimiter.ledger, ...about };
  return statusOf(known, clock.now(), false).verdict.text;
}

describe.each(Object.entries(OUTAGES))('system/simulation/outage: %s for an hour', (_, set) => {
  it('is a failure of every poll, and the sources recover at their next one', async () => {
    const sim = await running();
    const began = sim.clock.now();
    const before = sim.exchanges.length;
    set(sim, true);
    for (let minute = 0; minute < 60; minute += 1) {
      await sim.clock.advance(MINUTE);
      expectFailing(sim, began, Math.floor(((minute + 1) * MINUTE) / RETRY) - 1);
    }
    // A try and two retries, for the head and for finality.
    const sent = sim.exchanges.slice(before).filter(({ path }) => path.includes('/v1/')).length;
    expect(sent).toBeLessThanOrEqual(2 * 3 * 61);
    set(sim, false);
    await sim.clock.advance(RETRY);
    for (const id of POLLED_OFTEN) expect(sim.view(id).entry.failuresInARow).toBe(0);
    await sim.stop();
  });

  it('is never called working once it lasts, although daily sources are not due', async () => {
    const sim = await running();
    const headlines = [headline(sim)];
    set(sim, true);
    for (let minute = 0; minute < 60; minute += 1) {
      await sim.clock.advance(MINUTE);
      headlines.push(headline(sim));
    }
    const first = headlines.indexOf(NOT_WORKING);
    for (const text of headlines.slice(0, first))
      expect(text).toMatch(/^Working($|, with warnings: \d of \d sources failing)/);
    expect(first).toBeLessThanOrEqual(7);
    expect(new Set(headlines.slice(first))).toEqual(new Set([NOT_WORKING]));
    set(sim, false);
    await sim.clock.advance(RETRY);
    expect(headline(sim)).toBe('Working');
    await sim.stop();
  });

  it('is still a failure after a restart', async () => {
    const first = await running();
    const began = first.clock.now();
    set(first, true);
    await first.clock.advance(10 * MINUTE);
    const failed = first.view('slashings-mainnet').entry.failuresInARow;
    const again = await restarted(first, configured());
    set(again, true);
    await again.clock.advance(10 * MINUTE);
    expectFailing(again, began, failed + 5);
    await again.stop();
  });
});
