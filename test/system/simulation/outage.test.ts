import { describe, expect, it } from 'vitest';
import { configured } from '../../support/month.ts';
import { Simulation } from '../../support/simulation.ts';
import { HOUR, MINUTE } from '../../support/timing.ts';
import { restarted } from './restart.ts';

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

describe('system/simulation/outage', () => {
  it.each(Object.entries(OUTAGES))(
    '%s for an hour with a restart: every poll fails, none is dropped, and the next one recovers',
    async (_, set) => {
      const sources = configured();
      const before = new Simulation({ start: Date.UTC(2026, 9, 10), sandbox: { machines: 3 }, sources });
      // No poll is in progress now.
      await before.clock.advance(HOUR + 5_000);
      const began = before.clock.now();
      set(before, true);
      await before.clock.advance(30 * MINUTE);
      const sim = await restarted(before, sources);
      set(sim, true);
      await sim.clock.advance(30 * MINUTE);
      for (const id of POLLED_OFTEN) {
        const { entry } = sim.view(id);
        expect(entry.lastSuccessAt, id).toBeLessThanOrEqual(began);
        expect(entry.failuresInARow, id).toBeGreaterThanOrEqual((60 * MINUTE) / RETRY - 2);
      }
      // A try and two retries, for the head and for finality.
      const sent = sim.exchanges.filter(({ path }) => path.includes('/v1/')).length;
      expect(sent).toBeLessThanOrEqual(2 * 3 * 31);
      set(sim, false);
      await sim.clock.advance(RETRY);
      for (const id of POLLED_OFTEN) expect(sim.view(id).entry.failuresInARow).toBe(0);
      await sim.stop();
    },
  );
});
