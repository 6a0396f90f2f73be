import { describe, expect, it } from 'vitest';
import { allowedPerDay } from '../../../src/budget/bucket.ts';
import { configured, runMonth } from '../../support/month.ts';
import { Simulation } from '../../support/simulation.ts';
import { DAY, HOUR } from '../../support/timing.ts';
import { restarted } from './restart.ts';

/** A month of 31 days. */
const OCTOBER = Date.UTC(2026, 9, 1);
const TRIAL = { plan: 'free_trial', machines: 3, slotsPerSlashing: Number.POSITIVE_INFINITY } as const;

/** How many requests another client makes at the beginning of each hour. */
type Client = (hour: number) => number;

function evenly(perDay: number): Client {
  return (hour) => Math.floor((perDay * (hour + 1)) / 24) - Math.floor((perDay * hour) / 24);
}

/** On the last day the mean does not tell that all is taken already: the sources wait for the reset. */
const WAIT = 4;

const CLIENTS: readonly (readonly [name: string, client: Client, longestGapHours: number, gapInIntervals: number])[] = [
  ['10 a day', evenly(10), 6, 1.75],
  ['20 a day', evenly(20), 13, 1.75],
  ['20 a day, all at once', (hour) => (hour % 24 === 7 ? 20 : 0), 18, WAIT],
  ['20 a day to the 15th', (hour) => (hour < 15 * 24 ? evenly(20)(hour) : 0), 12, 1.75],
  ['300 in an hour of the 15th', (hour) => (hour === 14 * 24 ? 300 : 0), 30, 1.75],
];

/** Requests per day that are left to us. */
function allowed({ rateLimiter, clock }: Simulation): number {
  return allowedPerDay(rateLimiter.ledger.buckets['default'], { utilization: 0.9 }, clock.now());
}

describe('system/simulation/others: another client on the trial', () => {
  it.each(CLIENTS)(
    '%s: nothing is refused, and every source is polled to the last day',
    async (_name, client, hours, intervals) => {
      const { sim, refused, longestGap, longestGapInIntervals } = await runMonth({
        start: OCTOBER,
        hours: 31 * 24,
        sandbox: TRIAL,
        sources: configured(),
        eachHour: ({ sandbox, clock }, hour) => {
          if (client(hour) > 0) sandbox.spend(client(hour), clock.now());
        },
      });
      // Two that ask within the same second are another matter.
      expect(refused['month'] ?? 0).toBe(0);
      expect(sim.sandbox.account.inMonth).toBeGreaterThanOrEqual(970);
      for (const { source, entry } of sim.scheduler.views()) {
        expect(entry.lastSuccessAt, source.name).toBeGreaterThan(OCTOBER + 30 * DAY);
      }
      for (const id of ['machines', 'slashings-mainnet']) {
        expect(longestGapInIntervals[id], id).toBeLessThanOrEqual(intervals);
        expect(longestGap[id], id).toBeLessThanOrEqual(hours);
      }
      // Once a day, and once in the 27.3 hours of a sync committee.
      expect(longestGap['daily_returns-mainnet']).toBeLessThan(25);
      expect(longestGap['sync_committee-mainnet']).toBeLessThan(30);
    },
  );

  it('is known of after a restart', async () => {
    const sources = configured();
    const client = evenly(20);
    let sim = new Simulation({ start: OCTOBER, sandbox: TRIAL, sources });
    for (let hour = 0; hour < 31 * 24; hour += 1) {
      if (hour > 0 && hour % 100 === 0) {
        const before = allowed(sim);
        sim = await restarted(sim, sources);
        expect(allowed(sim)).toBeCloseTo(before, 6);
      }
      if (client(hour) > 0) sim.sandbox.spend(client(hour), sim.clock.now());
      await sim.clock.advance(HOUR);
      expect(sim.exchanges.filter(({ headers }) => headers['ratelimit-window'] === 'month')).toEqual([]);
    }
    for (const { source, entry } of sim.scheduler.views()) {
      expect(entry.lastSuccessAt, source.name).toBeGreaterThan(OCTOBER + 30 * DAY);
    }
    await sim.stop();
  });
});
