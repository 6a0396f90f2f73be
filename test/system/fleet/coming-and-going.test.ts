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

  it('machines that fell silent hours ago cost one request each where the budget allows a sweep in two hours', async () => {
    const run = new FleetRun({ machines: 20, options: { intervalMs: 2 * HOUR } });
    await run.sweep(2);
    const gone = ['m3', 'm7', 'm11', 'm15', 'm19'];
    const last = new Map<string, number>();
    await run.advance(10 * MINUTE);
    for (const [i, name] of gone.entries()) {
      await run.advance(10 * MINUTE * i);
      last.set(name, run.fleet.newest(name, 'system', run.now) ?? 0);
      run.fleet.silence(name, (last.get(name) ?? 0) + 1_000);
    }
    // Half of stale_after, which is 4 h 3 min, is over only at the second sweep.
    const [, sweep] = await run.sweep(2);
    expect(sweep?.requests.length).toBeLessThanOrEqual(3 + 1 + gone.length);
    for (const name of gone) expect(lastSeenOf(sweep?.machines.get(name))).toBeGreaterThanOrEqual(last.get(name) ?? 0);
    await run.sim.stop();
  });

  describe('the first start', () => {
    it('of a large fleet is a sweep like any other', async () => {
      const run = new FleetRun({ machines: 95 });
      const [first] = await run.sweep(1);
      expect(first?.requests.length).toBeLessThanOrEqual(15);
      expect(first?.requests.every(({ machines }) => machines === undefined)).toBe(true);
      expect(first?.machines.size).toBe(95);
      await run.sim.stop();
    });

    it('of a small one also finds who went silent within a day, with five requests, once', async () => {
      const run = new FleetRun({ machines: 9 });
      const hours = [0.5, 2, 5, 11, 23];
      hours.forEach((ago, i) => {
        run.fleet.silence(`m${i}`, run.now - ago * HOUR);
      });
      const [first, ...others] = await run.sweep(5);
      expect(first?.requests).toHaveLength(6);
      expect(first?.machines.size).toBe(9);
      hours.forEach((ago, i) => {
        expect((first?.start ?? 0) - lastSeenOf(first?.machines.get(`m${i}`))).toBeGreaterThanOrEqual(ago * HOUR);
      });
      for (const { requests } of others) expect(requests).toHaveLength(1);
      await run.sim.stop();
    });

    it('asks for each expected machine that was not found once, twenty an hour', async () => {
      const names = Array.from({ length: 45 }, (_, i) => `expected-${i}`);
      const run = new FleetRun({ machines: 95, options: { expected: ['m1', ...names] } });
      run.fleet.add('expected-0', run.now - 20 * 24 * HOUR);
      run.fleet.silence('expected-0', run.now - 3 * 24 * HOUR);
      const first = await run.sweep(50);
      const asked = namesAsked(first);
      expect(asked.toSorted()).toEqual(names.slice(0, 20).toSorted());
      expect(lastSeenOf(first[0]?.machines.get('expected-0'))).toBeGreaterThan(run.now - 4 * 24 * HOUR);
      const later = await run.sweep(140);
      expect([...asked, ...namesAsked(later)].toSorted()).toEqual(names.toSorted());
      await run.sim.stop();
    });

    it('is followed, after a restart with what was known, by a sweep that looks back no more', async () => {
      const run = new FleetRun({ machines: 9 });
      await run.sweep(1);
      await run.sim.stop();
      const again = new FleetRun({ machines: 9, entries: run.sim.entries });
      await again.advance(2 * MINUTE);
      for (const { requests } of again.sweeps) expect(requests).toHaveLength(1);
      expect(again.sweeps.length).toBeGreaterThan(0);
      await again.sim.stop();
    });
  });
});
