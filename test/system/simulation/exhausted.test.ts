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
  // A start asks again if the last answer is older.
  while (sim.clock.now() - sim.rateLimiter.ledger.key.since < 10 * MINUTE) await sim.clock.advance(MINUTE);
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
    expect(sim.waits.map((waits) => Object.keys(waits).length)).toEqual([4]);
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
    // The poll that asked at a start may have had to end there.
    for (const { source, entry } of sim.scheduler.views()) {
      expect(entry.lastError?.reason ?? 'BudgetClosed', source.name).toBe('BudgetClosed');
    }
    await sim.stop();
  });

  it('a first start: the pace is as configured', async () => {
    const sim = new Simulation({ start: START, sandbox: TRIAL, sources: configured() });
    sim.sandbox.spend(1_000, sim.clock.now());
    await sim.clock.advance(2 * DAY);
    expect(intervals(sim)).toMatchObject({ machines: MINUTE, 'slashings-mainnet': 65_000 });
    expectNextAtRenewal(sim);
    await sim.stop();
  });

  it('ten requests are left of a month: no pace of days for what is polled often', async () => {
    const sim = await trial();
    const before = intervals(sim);
    leave(10)(sim);
    await sim.clock.advance(HOUR);
    const polled = sim.exchanges.length;
    for (let day = 2; day < 12; day += 1) {
      await sim.clock.advance(START + (day + 0.5) * DAY - sim.clock.now());
      for (const id of ['machines', 'slashings-mainnet']) {
        expect((intervals(sim)[id] ?? 0) / (before[id] ?? 0), `${id} on day ${day}`).toBeCloseTo(1, 1);
      }
      expect(shown(sim), `day ${day}`).toBe(0);
    }
    expect(sim.exchanges.length - polled).toBeLessThanOrEqual(10);
    for (const { source, entry } of sim.scheduler.views()) expect(entry.lastError, source.name).toBeUndefined();
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
  it.each([
    ['our share is spent', (sim: Simulation, sources: ReturnType<typeof configured>) => backfilled(sim, sources)],
    [
      'others used it up and no 429 said so',
      async (sim: Simulation) => {
        leave(1)(sim);
        await sim.clock.advance(2 * HOUR);
        return sim;
      },
    ],
  ])('is noticed at the next start, where %s', async (_title, spend) => {
    const sources = configured();
    let sim = await spend(await trial(sources), sources);
    await sim.clock.advance(DAY);
    sim.sandbox.plan = 'hobbyist';
    sim = await restarted(sim, sources);
    await sim.clock.advance(5 * MINUTE);
    expect(intervals(sim)).toMatchObject({ machines: MINUTE, 'slashings-mainnet': 65_000 });
    expect(shown(sim)).toBe(3);
    await sim.stop();
  });

  it('is asked for by the first request after a start, and nothing follows where there is none', async () => {
    const sources = configured();
    let sim = await backfilled(await trial(sources), sources);
    // Until a source is due.
    while (sim.exchanges.length === 0) await sim.clock.advance(MINUTE);
    expect(sim.exchanges).toHaveLength(1);
    // That answer is too young for the next start to ask again.
    sim = await restarted(sim, sources);
    await sim.clock.advance(DAY);
    expect(sim.exchanges).toEqual([]);
    sim = await restarted(sim, sources);
    await sim.clock.advance(DAY);
    expect(sim.exchanges).toHaveLength(1);
    await sim.stop();
  });
});
