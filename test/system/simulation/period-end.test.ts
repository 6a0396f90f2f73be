import { describe, expect, it } from 'vitest';
import { configured } from '../../support/month.ts';
import { Simulation } from '../../support/simulation.ts';
import { HOUR, MINUTE } from '../../support/timing.ts';
import { restarted } from './restart.ts';

/** The end of a sync committee period of mainnet. */
const END = (1606824023 + 1_880 * 98_304) * 1000;
const ID = 'sync_committee-mainnet';

function periodsAsked({ exchanges }: Simulation): number[] {
  return exchanges.filter(({ path }) => path.endsWith('/sync-committee')).map(({ at }) => at - END);
}

describe('system/simulation: the end of a sync committee period', () => {
  it.each([20 * HOUR, 50 * MINUTE, 15 * MINUTE, MINUTE])(
    'is followed by one request five minutes later, %i ms after the start, also over a restart',
    async (before) => {
      const first = new Simulation({ start: END - before, sandbox: { machines: 1 }, sources: configured() });
      await first.clock.advance(before - 30_000);
      expect(periodsAsked(first)).toHaveLength(1);
      const sim = await restarted(first, configured());
      await sim.clock.advance(3 * HOUR);
      const asked = periodsAsked(sim);
      expect(asked).toHaveLength(1);
      expect(asked[0]).toBeGreaterThanOrEqual(5 * MINUTE - 1_000);
      expect(asked[0]).toBeLessThan(6 * MINUTE);
      expect(sim.view(ID).entry.value).toMatchObject({ period: { number: 1_880 } });
      await sim.stop();
    },
  );

  it('is read within the retries of an outage that covers it', async () => {
    const sim = new Simulation({ start: END - 15 * MINUTE, sandbox: { machines: 1 }, sources: configured() });
    await sim.clock.advance(10 * MINUTE);
    sim.sandbox.outage = true;
    await sim.clock.advance(15 * MINUTE);
    sim.sandbox.outage = false;
    await sim.clock.advance(5 * MINUTE);
    expect(sim.view(ID).entry.value).toMatchObject({ period: { number: 1_880 } });
    await sim.stop();
  });
});
