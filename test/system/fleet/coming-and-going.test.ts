import { describe, expect, it } from 'vitest';
import { FleetRun, lastSeenOf, type SweepSeen } from '../../support/fleet-run.ts';
import { HOUR, MINUTE } from '../../support/timing.ts';

const STALE = 10 * MINUTE;

function namesAsked(sweeps: readonly SweepSeen[]): string[] {
  return sweeps.flatMap(({ requests }) => requests.flatMap(({ machines = [] }) => machines));
}

describe('fleet: coming and going', () => {
  it.each([
    { machines: 9, latencyMs: 50 },
    { machines: 95, latencyMs: 50 },
    { machines: 1_000, latencyMs: 300 },
  ])('a machine of $machines that is back is seen at the next sweep, a new one within two', async (options) => {
    const run = new FleetRun(options);
    await run.sweep(2);
    const gone = ['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8'];
    for (const name of gone) run.fleet.silence(name, run.now);
    await run.advance(STALE + 5 * MINUTE);
    const since = run.now;
    gone.forEach((name, i) => {
      run.fleet.wake(name, since + 7_000 * i);
      run.fleet.add(`new-${i}`, since + 7_000 * i);
    });
    const sweeps = await run.sweep(5);
    // Those that start when a record of it has come.
    const seeing = (name: string): SweepSeen[] =>
      sweeps.filter(({ start }) => (run.fleet.newest(name, 'system', start) ?? 0) >= since);
    gone.forEach((name, i) => {
      expect(lastSeenOf(seeing(name)[0]?.machines.get(name)), name).toBeGreaterThanOrEqual(since);
      expect(seeing(`new-${i}`)[1]?.machines.has(`new-${i}`), `new-${i}`).toBe(true);
    });
    await run.sim.stop();
  });

  it('a machine that falls silent is asked for while it counts as live, and never after that', async () => {
    const run = new FleetRun({ machines: 95 });
    await run.sweep(2);
    run.fleet.silence('m3', run.now);
    const silentAt = lastSeenOf(run.sweeps.at(-1)?.machines.get('m3'));
    const dying = await run.sweep(10);
    expect(new Set(namesAsked(dying))).toEqual(new Set(['m3']));
    for (const { start, requests } of dying) {
      const asked = namesAsked([{ requests } as SweepSeen]).length > 0;
      expect(asked, `${(start - silentAt) / 1_000} s after`).toBe(
        start - silentAt > STALE / 2 && start - silentAt <= STALE,
      );
    }
    const silent = await run.sweep(60);
    expect(namesAsked(silent)).toEqual([]);
    expect(lastSeenOf(silent.at(-1)?.machines.get('m3'))).toBe(silentAt);
    await run.sim.stop();
  });

  describe('the first start', () => {
    it('finds the machines that went silent within five hours by their names, one request each', async () => {
      const run = new FleetRun({ machines: 9 });
      const hours = [0.5, 2, 4.5, 11];
      hours.forEach((ago, i) => {
        run.fleet.silence(`m${i}`, run.now - ago * HOUR);
      });
      const [first, ...others] = await run.sweep(5);
      expect(namesAsked(first ? [first] : []).toSorted()).toEqual(['m0', 'm1', 'm2']);
      expect(first?.machines.size).toBe(8);
      expect((first?.start ?? 0) - lastSeenOf(first?.machines.get('m2'))).toBeGreaterThanOrEqual(4.5 * HOUR);
      expect(namesAsked(others)).toEqual([]);
      await run.sim.stop();
    });

    it('asks for each expected machine that was not found, ten a sweep', async () => {
      const names = Array.from({ length: 45 }, (_, i) => `expected-${i}`);
      const run = new FleetRun({ machines: 95, options: { expected: ['m1', ...names] } });
      run.fleet.add('expected-0', run.now - 20 * 24 * HOUR);
      run.fleet.silence('expected-0', run.now - 3 * 24 * HOUR);
      const sweeps = await run.sweep(10);
      expect(namesAsked(sweeps.slice(0, 2))).toEqual(names.slice(0, 20));
      expect(namesAsked(sweeps)).toEqual(names);
      expect(lastSeenOf(sweeps[0]?.machines.get('expected-0'))).toBeGreaterThan(run.now - 4 * 24 * HOUR);
      await run.sim.stop();
    });

    it('is followed, after a restart with what was known, by a sweep like any other', async () => {
      const run = new FleetRun({ machines: 9 });
      await run.sweep(1);
      await run.sim.stop();
      const again = new FleetRun({ machines: 9, entries: run.sim.entries });
      await again.advance(2 * MINUTE);
      for (const { requests } of again.sweeps) expect(requests).toHaveLength(1);
      expect(again.sweeps.length).toBeGreaterThan(0);
      expect(again.sim.exchanges.filter(({ path }) => path.endsWith('/machine-names'))).toEqual([]);
      await again.sim.stop();
    });
  });
});
