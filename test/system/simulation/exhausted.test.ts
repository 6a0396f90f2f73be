import { describe, expect, it } from 'vitest';
import { sourceId } from '../../../src/state/entry.ts';
import { configured } from '../../support/month.ts';
import { Simulation } from '../../support/simulation.ts';
import { DAY, HOUR, MINUTE } from '../../support/timing.ts';
import { restarted } from './restart.ts';

/** A first start so late that the month ends after twelve days. */
const START = Date.UTC(2026, 9, 20);
const NOVEMBER = Date.UTC(2026, 10, 1);
const TRIAL = { plan: 'free_trial', machines: 3, slotsPerSlashing: Number.POSITIVE_INFINITY } as const;

function intervals({ scheduler }: Simulation): Record<string, number> {
  return Object.fromEntries(scheduler.views().map(({ source, pace }) => [sourceId(source), pace.intervalMs]));
}

/** Machines whose values are shown. */
function shown(sim: Simulation): number {
  const { source, entry, timing } = sim.view('machines');
  const families = source.families(entry.value, timing);
  return families.find(({ name }) => name === 'beaconchain_machine_cpu_cores')?.samples.length ?? 0;
}

/** The other programs on the account leave so many requests of the month. */
function leave(left: number): (sim: Simulation) => void {
  return ({ sandbox, clock }) => sandbox.spend(1_000 - left - sandbox.account.inMonth, clock.now());
}

/** `backfill` spends what this exporter may spend, and the daemon starts again with the ledger that it left. */
async function backfilled(sim: Simulation, sources: ReturnType<typeof configured>): Promise<Simulation> {
  sim.sandbox.spend(900 - sim.sandbox.account.inMonth, sim.clock.now());
  const { ledger } = sim.rateLimiter;
  const buckets = Object.fromEntries(
    Object.entries(ledger.buckets).map(([name, bucket]) => [
      name,
      bucket.month ? { ...bucket, month: { ...bucket.month, own: 900, remaining: 100 } } : bucket,
    ]),
  );
  return restarted(sim, sources, { ledger: { ...ledger, buckets } });
}

/** A trial after two days in which all was well. */
async function trial(sources = configured()): Promise<Simulation> {
  const sim = new Simulation({ start: START, sandbox: TRIAL, sources });
  await sim.clock.advance(2 * DAY);
  return sim;
}

/** The next poll of every source is at the renewal, or later where it is not due before. */
function expectNextAtRenewal(sim: Simulation): void {
  for (const { source, nextAttemptAt } of sim.scheduler.views()) {
    expect(nextAttemptAt, source.name).toBeGreaterThanOrEqual(NOVEMBER);
    expect(nextAttemptAt, source.name).toBeLessThan(NOVEMBER + DAY);
  }
}

describe('system/simulation/exhausted: nothing is left of the month', () => {
  it.each([
    ['others used it up, and a 429 said so', leave(0)],
    ['one request is left', leave(1)],
  ])('%s: the pace stays, values go, all comes back at the renewal', async (_title, spend) => {
    const sources = configured();
    const sim = await trial(sources);
    const before = intervals(sim);
    expect(shown(sim)).toBe(3);
    spend(sim);
    await sim.clock.advance(2 * HOUR);
    for (let day = 2; day < 12; day += 1) {
      for (const [id, interval] of Object.entries(intervals(sim))) {
        expect(interval / (before[id] ?? 0), `${id} on day ${day}`).toBeCloseTo(1, 1);
      }
      expectNextAtRenewal(sim);
      await sim.clock.advance(START + (day + 0.5) * DAY - sim.clock.now());
      // Twice the interval after the last record.
      expect(shown(sim), `day ${day}`).toBe(0);
    }
    // Told once, and no new plan.
    expect(sim.waits.map(({ until }) => Object.keys(until).length)).toEqual([4]);
    expect(sim.plans).toHaveLength(1);
    await sim.clock.advance(NOVEMBER + 4 * HOUR - sim.clock.now());
    expect(shown(sim)).toBe(3);
    for (const { source, entry } of sim.scheduler.views()) {
      expect(entry.lastSuccessAt, source.name).toBeGreaterThanOrEqual(NOVEMBER);
    }
    await sim.stop();
  });

  it('backfill spent our share: the pace stays over restarts, values go, the next attempt is at the renewal', async () => {
    const sources = configured();
    const running = await trial(sources);
    const before = intervals(running);
    let sim = await backfilled(running, sources);
    for (const day of [2.5, 7, 11.5]) {
      await sim.clock.advance(START + day * DAY - sim.clock.now());
      expect(shown(sim), `day ${day}`).toBe(0);
      for (const [id, interval] of Object.entries(intervals(sim))) {
        expect(interval / (before[id] ?? 0), `${id} on day ${day}`).toBeCloseTo(1, 1);
      }
      expectNextAtRenewal(sim);
      sim = await restarted(sim, sources);
    }
    for (const { source, entry } of sim.scheduler.views()) expect(entry.lastError, source.name).toBeUndefined();
    await sim.stop();
  });

  it('a first start: the pace is that of a whole quota', async () => {
    const sim = new Simulation({ start: START, sandbox: TRIAL, sources: configured() });
    sim.sandbox.spend(1_000, sim.clock.now());
    await sim.clock.advance(2 * DAY);
    const { machines, 'slashings-mainnet': slashings } = intervals(sim);
    expect(machines).toBeGreaterThan(2 * HOUR);
    expect(machines).toBeLessThan(2.3 * HOUR);
    expect(slashings).toBeLessThan(1.6 * HOUR);
    expectNextAtRenewal(sim);
    await sim.stop();
  });

  it('ten requests are left of a month: no pace of days, and what is left is spent', async () => {
    const sim = await trial();
    const before = intervals(sim);
    leave(10)(sim);
    await sim.clock.advance(HOUR);
    const polled = sim.exchanges.length;
    for (let day = 2; day < 12; day += 1) {
      await sim.clock.advance(START + (day + 0.5) * DAY - sim.clock.now());
      for (const [id, interval] of Object.entries(intervals(sim))) {
        expect(interval / (before[id] ?? 0), `${id} on day ${day}`).toBeCloseTo(1, 1);
      }
      expect(shown(sim), `day ${day}`).toBe(0);
    }
    expect(sim.exchanges.length - polled).toBeGreaterThanOrEqual(8);
    expect(sim.exchanges.length - polled).toBeLessThanOrEqual(12);
    await sim.stop();
  });
});

describe('system/simulation/exhausted: less is left than a sweep takes', () => {
  it.each([1_010, 1_020, 1_030, 1_040])(
    'no sweep begins that would end in the middle (%i a month)',
    async (perMonth) => {
      const plan = { perSecond: 5, perMonth };
      const sim = new Simulation({
        start: NOVEMBER - 2 * HOUR,
        sandbox: { ...TRIAL, plan, machines: 120 },
        sources: configured(),
      });
      await sim.clock.advance(2 * HOUR - 1);
      await sim.stop();
      for (const { source, entry } of sim.scheduler.views()) expect(entry.lastError, source.name).toBeUndefined();
      expect(sim.sandbox.account.inMonth).toBeGreaterThanOrEqual(0.97 * 0.9 * perMonth);
    },
  );
});

describe('system/simulation/exhausted: a larger plan', () => {
  it.each([1, 6])('is noticed within a day where our share is spent (bought after %i days)', async (bought) => {
    const sources = configured();
    let sim = await backfilled(await trial(sources), sources);
    await sim.clock.advance((bought - 0.4) * DAY);
    sim = await restarted(sim, sources);
    const before = sim.exchanges.length;
    sim.sandbox.plan = 'hobbyist';
    await sim.clock.advance(DAY + MINUTE);
    expect(sim.exchanges.length).toBeGreaterThan(before);
    await sim.clock.advance(5 * MINUTE);
    // As configured.
    expect(intervals(sim)).toMatchObject({ machines: MINUTE, 'slashings-mainnet': 65_000 });
    expect(shown(sim)).toBe(3);
    for (const { source, nextAttemptAt } of sim.scheduler.views()) {
      expect(nextAttemptAt, source.name).toBeLessThan(sim.clock.now() + 2 * DAY);
    }
    await sim.stop();
  });

  it('is noticed within a day where others used it up and no 429 said so', async () => {
    const sim = await trial();
    // The next answer says that nothing is left.
    leave(1)(sim);
    await sim.clock.advance(2 * HOUR);
    expect(sim.exchanges.at(-1)).toMatchObject({ status: 200 });
    sim.sandbox.plan = 'hobbyist';
    await sim.clock.advance(DAY + 5 * MINUTE);
    expect(intervals(sim)).toMatchObject({ machines: MINUTE, 'slashings-mainnet': 65_000 });
    await sim.stop();
  });

  it('costs one request a day to look for, over restarts too', async () => {
    const sources = configured();
    let sim = await backfilled(await trial(sources), sources);
    const asked: number[] = [];
    for (let restarts = 0; restarts < 24; restarts += 1) {
      await sim.clock.advance(8 * HOUR);
      asked.push(...sim.exchanges.map(({ at }) => at));
      sim = await restarted(sim, sources);
    }
    expect(asked).toHaveLength(8);
    const gaps = asked.slice(1).map((at, i) => at - (asked[i] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(DAY);
    for (const { source, entry } of sim.scheduler.views()) expect(entry.lastError, source.name).toBeUndefined();
    await sim.stop();
  });

  it('is not looked for after a 429 that says when the month ends', async () => {
    const sim = await trial();
    leave(0)(sim);
    await sim.clock.advance(2 * HOUR);
    const before = sim.exchanges.length;
    expect(sim.exchanges.at(-1)).toMatchObject({ status: 429 });
    await sim.clock.advance(NOVEMBER - MINUTE - sim.clock.now());
    expect(sim.exchanges).toHaveLength(before);
    await sim.stop();
  });
});
