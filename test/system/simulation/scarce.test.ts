import { describe, expect, it } from 'vitest';
import type { Slashings } from '../../../src/sources/slashings/schema.ts';
import { configured } from '../../support/month.ts';
import { Simulation } from '../../support/simulation.ts';
import { DAY, HOUR } from '../../support/timing.ts';

/** The last days of a month: a quota of so many a month has as much a day, and what is left of it varies the more. */
const NOVEMBER = Date.UTC(2026, 10, 1);
const DAYS = 3;
const ofMonth = (quota: number): number => Math.round((quota * DAYS) / 31);

describe('system/simulation/scarce', () => {
  // Slashings get 228, 347, 434, 521 and 675 requests a day of these.
  it.each([13_150, 20_000, 25_000, 30_000, 38_815])(
    'a quota of %i a month is told of a few times, spent to 97 %, and nothing is skipped that could be read',
    async (quota) => {
      const perMonth = ofMonth(quota);
      const sim = new Simulation({
        start: NOVEMBER - DAYS * DAY,
        sandbox: { plan: { perSecond: 5, perMonth }, machines: 3, slotsPerSlashing: Number.POSITIVE_INFINITY },
        sources: configured(),
      });
      const coverages: string[] = [];
      // What one hour's requests more or less are worth grows beyond all bounds at the very end.
      for (let hour = 0; hour < DAYS * 24 - 1; hour += 1) {
        await sim.clock.advance(HOUR);
        coverages.push(sim.view('slashings-mainnet').pace.coverage);
      }
      await sim.clock.advance(HOUR - 1);
      await sim.stop();
      expect(sim.plans.length).toBeLessThanOrEqual(2 * DAYS);
      expect(coverages.filter((coverage, i) => i > 0 && coverage !== coverages[i - 1]).length).toBeLessThanOrEqual(1);
      expect(sim.sandbox.account.inMonth).toBeGreaterThanOrEqual(0.97 * 0.9 * perMonth);
      const known = sim.entries.get('slashings-mainnet')?.value as Slashings | undefined;
      expect(known?.totals.skippedEpochs).toBe(0);
    },
  );

  it.each([100, 224, 230, 300, 670, 680, 1_900])(
    'slashings with %i requests a day send what is planned, within 2 %',
    async (perDay) => {
      const sources = configured().filter(({ name }) => name === 'slashings');
      const plan = { perSecond: 5, perMonth: Math.ceil((perDay * 31) / 0.9) };
      const start = Date.UTC(2026, 9, 1);
      const sim = new Simulation({ start, sandbox: { plan, slotsPerSlashing: Number.POSITIVE_INFINITY }, sources });
      await sim.clock.advance(6 * HOUR);
      const before = sim.exchanges.length;
      const { requestsPerDay } = sim.view('slashings-mainnet').pace;
      await sim.clock.advance(DAY);
      await sim.stop();
      const sent = sim.exchanges.length - before;
      expect(Math.abs(sent - requestsPerDay)).toBeLessThanOrEqual(Math.max(2, requestsPerDay * 0.02));
      expect(requestsPerDay).toBeGreaterThanOrEqual(0.97 * Math.min(perDay, 1_779));
    },
  );
});
