import { describe, expect, it } from 'vitest';
import { slashingsSource } from '../../../src/sources/slashings/index.ts';
import type { Slashings } from '../../../src/sources/slashings/schema.ts';
import { Simulation } from '../../support/simulation.ts';
import { slashingsOptions } from '../../support/slashings-options.ts';
import { DAY, MINUTE, NOW } from '../../support/timing.ts';

const SOURCE = slashingsSource(slashingsOptions());
const ID = 'slashings-mainnet';
const STOP_MS = 2 * DAY;

function stateOf(simulation: Simulation): Slashings {
  return SOURCE.state.parse(simulation.view(ID).entry.value);
}

function slotsOf({ totals }: Slashings): number {
  return totals.slots.proposed + totals.slots.missed + totals.slots.orphaned;
}

/** Runs, stops for two days, and runs again until every finalized epoch is counted. */
async function catchUp(perSecond: number) {
  const shared = { sources: [SOURCE], sandbox: { plan: { perSecond }, slotsPerSlashing: 20_000 }, latencyMs: 150 };
  const before = new Simulation({ ...shared, start: NOW });
  await before.clock.advance(10 * MINUTE);
  await before.stop();
  const start = NOW + STOP_MS;
  const { entries, rateLimiter } = before;
  const after = new Simulation({ ...shared, start, entries: new Map(entries), ledger: rateLimiter.ledger });
  const from = stateOf(after).scannedEpoch ?? Number.NaN;
  const isBehind = ({ scannedEpoch = 0, finalizedEpoch = 0 }: Slashings): boolean =>
    finalizedEpoch === from || scannedEpoch < finalizedEpoch;
  while (isBehind(stateOf(after))) await after.clock.advance(5_000);
  await after.stop();
  const minutes = (after.clock.now() - start) / MINUTE;
  const { scannedEpoch = 0, totals } = stateOf(after);
  const slots = slotsOf(stateOf(after)) - slotsOf(stateOf(before));
  const heads = after.exchanges.filter(({ path }) => path.includes('latest')).map(({ at }) => at);
  return {
    epochs: scannedEpoch - from,
    perMinute: (scannedEpoch - from) / minutes,
    slots,
    skipped: totals.skippedEpochs,
    longestWithoutHead: Math.max(...[...heads, after.clock.now()].map((at, i) => at - (heads[i - 1] ?? start))) / 1000,
    refused: after.exchanges.filter(({ status }) => status === 429).length,
  };
}

describe('system/slashings-measure/catch-up', () => {
  it.for([
    [1, 45],
    [5, 200],
  ])(
    'at %i requests a second reads more than %i epochs a minute, and the head goes on',
    async ([perSecond = 0, least = 0], { annotate }) => {
      const result = await catchUp(perSecond);
      await annotate(JSON.stringify(result));
      expect(result.perMinute).toBeGreaterThan(least);
      expect(result).toMatchObject({ skipped: 0, refused: 0 });
      expect(result.longestWithoutHead).toBeLessThan(80);
      expect(result.epochs).toBeGreaterThanOrEqual(449);
      expect(result.slots).toBe(result.epochs * 32);
    },
  );
});
