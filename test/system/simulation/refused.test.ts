import { describe, expect, it } from 'vitest';
import { Sandbox } from '../../../src/sandbox/world.ts';
import { configured } from '../../support/month.ts';
import { Simulation } from '../../support/simulation.ts';
import { DAY, HOUR, MINUTE } from '../../support/timing.ts';
import { restarted } from './restart.ts';

const OCTOBER_10 = Date.UTC(2026, 9, 10);
const NOVEMBER = Date.UTC(2026, 10, 1);
const TRIAL = { plan: 'free_trial', machines: 3, slotsPerSlashing: Number.POSITIVE_INFINITY } as const;

/** Minutes since the start at which a request reached the service. */
function minutes({ exchanges }: Simulation, since: number): number[] {
  return exchanges.map(({ at }) => Math.floor((at - since) / MINUTE));
}

describe('system/simulation/refused', () => {
  it('a quota that others have used up: one request, and nothing until the reset, also over restarts', async () => {
    const sandbox = new Sandbox({ ...TRIAL, start: OCTOBER_10 });
    sandbox.spend(1_000, OCTOBER_10);
    const sources = configured();
    let sim = new Simulation({ start: OCTOBER_10 + 2_000, sandbox, sources });
    await sim.clock.advance(5 * DAY);
    expect(sim.exchanges.map(({ status, headers }) => [status, headers['ratelimit-window']])).toEqual([[429, 'month']]);
    for (const day of [5, 11]) {
      sim = await restarted(sim, sources);
      await sim.clock.advance(OCTOBER_10 + day * DAY + HOUR - sim.clock.now());
      expect(sim.exchanges).toEqual([]);
      for (const view of sim.scheduler.views()) expect(view.nextAttemptAt).toBeGreaterThanOrEqual(NOVEMBER);
    }
    sim = await restarted(sim, sources);
    await sim.clock.advance(NOVEMBER + MINUTE - sim.clock.now());
    expect(Math.min(...sim.exchanges.map(({ at }) => at))).toBeGreaterThanOrEqual(NOVEMBER);
    expect(sim.exchanges.filter(({ status }) => status !== 200)).toEqual([]);
    expect(sim.scheduler.views().map(({ entry }) => entry.failuresInARow)).toEqual([0, 0, 0, 0]);
    await sim.stop();
  });

  it('a quota that runs out under our hands: nothing after the first refusal', async () => {
    const sandbox = new Sandbox({ ...TRIAL, start: OCTOBER_10 });
    const sim = new Simulation({ start: OCTOBER_10, sandbox, sources: configured() });
    await sim.clock.advance(5 * DAY);
    const before = sim.exchanges.length;
    sandbox.spend(1_000, sim.clock.now());
    await sim.clock.advance(NOVEMBER - sim.clock.now());
    expect(sim.exchanges.slice(before).map(({ status }) => status)).toEqual([429]);
    await sim.clock.advance(MINUTE);
    expect(sim.exchanges.slice(before + 1).map(({ status }) => status)).not.toContain(429);
    expect(sim.exchanges.length).toBeGreaterThan(before + 1);
    await sim.stop();
  });

  it('revoked access: silence for good, and one request at a start 10 minutes after the last refusal', async () => {
    const sources = configured();
    let sim = new Simulation({ start: OCTOBER_10, sandbox: { machines: 3 }, sources });
    await sim.clock.advance(HOUR);
    sim.sandbox.revoked = true;
    const before = sim.exchanges.length;
    await sim.clock.advance(DAY);
    // Those that had left together are refused together.
    const refused = sim.exchanges.slice(before);
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 429));
    expect(new Set(refused.map(({ at }) => Math.floor(at / 1_000))).size).toBe(1);

    // A start a day later asks once.
    sim = await restarted(sim, sources);
    await sim.clock.advance(9 * MINUTE);
    expect(sim.exchanges.map(({ status }) => status)).toEqual([429]);
    // One 9 minutes after that refusal does not.
    sim = await restarted(sim, sources);
    await sim.clock.advance(DAY);
    expect(sim.exchanges).toEqual([]);
    for (const { nextAttemptAt } of sim.scheduler.views()) expect(nextAttemptAt).toBe(Number.POSITIVE_INFINITY);

    sim.sandbox.revoked = false;
    sim = await restarted(sim, sources);
    await sim.clock.advance(HOUR);
    expect(sim.exchanges.filter(({ status }) => status !== 200)).toEqual([]);
    expect(sim.exchanges.length).toBeGreaterThan(60);
    await sim.stop();
  });

  it('revoked access: another key starts afresh at once', async () => {
    const sources = configured();
    const first = new Simulation({ start: OCTOBER_10, sandbox: { machines: 3 }, sources });
    first.sandbox.revoked = true;
    await first.clock.advance(MINUTE);
    const other = new Sandbox({ start: OCTOBER_10, machines: 3, key: 'another' });
    const sim = await restarted(first, sources, { sandbox: other });
    await sim.clock.advance(10 * MINUTE);
    expect(sim.exchanges.map(({ status }) => status)).not.toContain(429);
    expect(sim.exchanges.length).toBeGreaterThan(10);
    await sim.stop();
  });

  it('a refused key: one request every 10 minutes, also over a restart, and at once with another key', async () => {
    const sources = configured();
    const first = new Simulation({ start: OCTOBER_10, sandbox: { machines: 3, key: 'right' }, key: 'wrong', sources });
    await first.clock.advance(35 * MINUTE);
    expect(first.exchanges.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect(minutes(first, OCTOBER_10)).toEqual([0, 10, 20, 30]);

    const again = await restarted(first, sources, { key: 'wrong' });
    await again.clock.advance(10 * MINUTE);
    expect(minutes(again, OCTOBER_10)).toEqual([40]);

    const right = await restarted(again, sources, { key: 'right' });
    await right.clock.advance(MINUTE);
    expect(minutes(right, OCTOBER_10)[0]).toBe(45);
    expect(right.exchanges.map(({ status }) => status)).not.toContain(401);
    await right.stop();
  });
});
