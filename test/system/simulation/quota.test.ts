import { describe, expect, it } from 'vitest';
import { withKey } from '../../../src/budget/ledger.ts';
import { sourceId } from '../../../src/scheduler/entry.ts';
import { configured } from '../../support/runs/month.ts';
import { Simulation } from '../../support/runs/simulation.ts';
import { DAY, HOUR, MINUTE } from '../../support/time/timing.ts';
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
function leave({ sandbox, clock }: Simulation, left: number): void {
  sandbox.spend(1_000 - left - sandbox.account.inMonth, clock.now());
}

function statuses({ exchanges }: Simulation): number[] {
  return exchanges.map(({ status }) => status);
}

/** A trial after two days in which all was well. */
async function trial(sources = configured()): Promise<Simulation> {
  const sim = new Simulation({ start: START, sandbox: TRIAL, sources, sleepsLong: true });
  await sim.clock.advance(2 * DAY);
  return sim;
}

describe('system/simulation/quota', () => {
  it.each([
    [0, 1],
    [1, 1],
    [10, 10],
  ])('others leave %i of the month: the pace stays, values go, all comes back at the renewal', async (left, most) => {
    const sim = await trial();
    const before = intervals(sim);
    expect(shown(sim)).toBe(3);
    leave(sim, left);
    const polled = sim.exchanges.length;
    for (let day = 2; day < 12; day += 2) {
      await sim.clock.advance(START + (day + 0.5) * DAY - sim.clock.now());
      for (const id of ['machines', 'slashings-mainnet'])
        expect((intervals(sim)[id] ?? 0) / (before[id] ?? 0), `${id} on day ${day}`).toBeCloseTo(1, 1);
      expect(shown(sim), `day ${day}`).toBe(0);
    }
    expect(sim.exchanges.length - polled).toBeLessThanOrEqual(most);
    if (left === 0) expect(statuses(sim).slice(polled)).toEqual([429]);
    await sim.clock.advance(NOVEMBER + 4 * HOUR - sim.clock.now());
    expect(shown(sim)).toBe(3);
    for (const { source, entry } of sim.scheduler.views())
      expect(entry.lastSuccessAt, source.name).toBeGreaterThanOrEqual(NOVEMBER);
    await sim.stop();
  });

  it('nothing is sent until the renewal, over restarts too, but one request at a start', async () => {
    const sources = configured();
    let sim = await trial(sources);
    leave(sim, 0);
    await sim.clock.advance(5 * HOUR);
    for (const day of [4, 8]) {
      sim = await restarted(sim, sources);
      await sim.clock.advance(START + day * DAY - sim.clock.now());
      expect(sim.exchanges.length).toBeLessThanOrEqual(1);
      for (const { nextAttemptAt } of sim.scheduler.views()) expect(nextAttemptAt).toBeGreaterThanOrEqual(NOVEMBER);
    }
    await sim.stop();
  });

  it.each([
    ['start', 0],
    ['start', 1],
    ['start', 400],
    ['reload', 0],
    ['reload', 400],
  ])('a larger plan is noticed by one request at the next %s, with %i left', async (how, left) => {
    const sources = configured();
    let sim = await trial(sources);
    leave(sim, left);
    await sim.clock.advance(DAY);
    const restart = async (): Promise<void> => {
      if (how === 'start') sim = await restarted(sim, sources, { pauseMs: 11 * MINUTE });
      else {
        await sim.clock.advance(11 * MINUTE);
        sim.exchanges.length = 0;
        const { ledger } = sim.rateLimiter;
        sim.rateLimiter.adopt({ utilization: 0.9 }, withKey(ledger, ledger.key.fingerprint, sim.clock.now()));
        sim.scheduler.adopt(sources, sim.entries);
      }
    };
    await restart();
    await sim.clock.advance(MINUTE);
    // The plan is the same: nothing else is sent that is not due.
    expect(sim.exchanges.length).toBe(1);
    sim.sandbox.plan = 'hobbyist';
    await restart();
    await sim.clock.advance(5 * MINUTE);
    expect(intervals(sim)).toMatchObject({ machines: MINUTE, 'slashings-mainnet': 65_000 });
    expect(statuses(sim)).not.toContain(429);
    expect(shown(sim)).toBe(3);
    await sim.stop();
  });

  it('a first start on a used up quota keeps the pace as configured', async () => {
    const sim = new Simulation({ start: START, sandbox: TRIAL, sources: configured(), sleepsLong: true });
    leave(sim, 0);
    await sim.clock.advance(2 * DAY);
    expect(intervals(sim)).toMatchObject({ machines: MINUTE, 'slashings-mainnet': 65_000 });
    await sim.stop();
  });

  it('revoked access is silence, and one request at a start 10 minutes after the last refusal', async () => {
    const sources = configured();
    let sim = new Simulation({ start: START, sandbox: { machines: 3 }, sources });
    await sim.clock.advance(HOUR);
    sim.sandbox.revoked = true;
    const before = sim.exchanges.length;
    await sim.clock.advance(4 * HOUR);
    // Those that had left together are refused together.
    const refused = sim.exchanges.slice(before);
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
    expect(new Set(refused.map(({ at }) => Math.floor(at / 1_000))).size).toBe(1);
    sim = await restarted(sim, sources);
    await sim.clock.advance(9 * MINUTE);
    expect(statuses(sim)).toEqual([429]);
    sim = await restarted(sim, sources);
    await sim.clock.advance(4 * HOUR);
    expect(sim.exchanges).toEqual([]);
    for (const { nextAttemptAt } of sim.scheduler.views()) expect(nextAttemptAt).toBe(Number.POSITIVE_INFINITY);
    sim.sandbox.revoked = false;
    sim = await restarted(sim, sources);
    await sim.clock.advance(HOUR);
    expect(new Set(statuses(sim))).toEqual(new Set([200]));
    await sim.stop();
  });

  it('a single 401 is over after a minute, on a trial too', async () => {
    const sim = await trial();
    const { key } = sim.sandbox;
    Object.assign(sim.sandbox, { key: 'another' });
    while (sim.exchanges.at(-1)?.status !== 401) await sim.clock.advance(MINUTE / 2);
    Object.assign(sim.sandbox, { key });
    const { at = 0 } = sim.exchanges.at(-1) ?? {};
    await sim.clock.advance(at + 1.5 * MINUTE - sim.clock.now());
    expect(sim.rateLimiter.ledger.key.standing).toBe('valid');
    await sim.stop();
  });

  it('with a refused key one request is sent after a minute, then every 10 minutes, over a restart too, and at once with another', async () => {
    const sources = configured();
    const first = new Simulation({ start: START, sandbox: { machines: 3, key: 'right' }, key: 'wrong', sources });
    await first.clock.advance(35 * MINUTE);
    const minutes = ({ exchanges }: Simulation): number[] =>
      exchanges.map(({ at }) => Math.floor((at - START) / MINUTE));
    expect([statuses(first), minutes(first)]).toEqual([
      [401, 401, 401, 401, 401],
      [0, 1, 11, 21, 31],
    ]);
    const again = await restarted(first, sources, { key: 'wrong' });
    await again.clock.advance(10 * MINUTE);
    expect(minutes(again)).toEqual([41]);
    const right = await restarted(again, sources, { key: 'right' });
    await right.clock.advance(MINUTE);
    expect(minutes(right)[0]).toBe(45);
    expect(statuses(right)).not.toContain(401);
    await right.stop();
  });
});
