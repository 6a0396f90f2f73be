import { describe, expect, it } from 'vitest';
import type { Machines } from '../../../src/sources/machines/schema.ts';
import { boundOf, FleetRun, lastSeenOf } from '../../support/fleet-run.ts';
import { HOUR, MINUTE } from '../../support/timing.ts';

/** Sweeps until each of these machines is held with a record of after `since`; those not found in ten are left out. */
async function sweepsUntilFound(run: FleetRun, names: readonly string[], since: number): Promise<number[]> {
  const found = new Map<string, number>();
  for (let count = 1; count <= 10; count += 1) {
    const [sweep] = await run.sweep(1);
    for (const name of names) {
      const isFound = lastSeenOf(sweep?.machines.get(name)) >= since;
      if (isFound && !found.has(name)) found.set(name, count);
    }
  }
  return [...found.values()];
}

const LAGS = [0, 15, 30, 60, 120, 200, 300];

describe('fleet: late records', () => {
  it.each(LAGS.flatMap((lag) => [1, 9, 30, 90].map((machines) => [lag, machines] as const)))(
    'all records %i s late: each of %i machines is found within five sweeps, and kept fresh',
    async (lag, machines) => {
      const run = new FleetRun({ machines, lateMs: () => lag * 1_000, seed: machines + lag });
      await run.sweep(5);
      const held = run.sweeps.at(-1)?.machines;
      expect(held?.size).toBe(machines);
      const steady = await run.sweep(20);
      for (const { start, machines: now, requests } of steady.slice(5)) {
        for (const machine of now.values()) expect(start - lastSeenOf(machine)).toBeLessThan((lag + 130) * 1_000);
        expect(requests.length).toBeLessThanOrEqual(boundOf(machines));
      }
      await run.sim.stop();
    },
  );

  it.each(LAGS.flatMap((lag) => [9, 90].map((machines) => [lag, machines] as const)))(
    'new and returned machines whose records come %i s late, among %i others: found within five sweeps of a record being five minutes old',
    async (lag, machines) => {
      const late = machines < 20 ? 1 : 4;
      const isLate = (id: number): boolean => id >= machines;
      const run = new FleetRun({ machines, lateMs: (id) => (isLate(id) ? lag * 1_000 : 0), seed: lag });
      const [returned, fresh] = [
        [...Array(late).keys()].map((i) => `back-${i}`),
        [...Array(late).keys()].map((i) => `new-${i}`),
      ];
      for (const name of returned) run.fleet.add(name, Number.NEGATIVE_INFINITY);
      await run.sweep(8);
      expect(run.sweeps.at(-1)?.machines.size).toBe(machines + late);
      for (const name of returned) run.fleet.silence(name, run.now);
      await run.advance(20 * MINUTE);
      const since = run.now;
      for (const name of returned) run.fleet.wake(name, since);
      for (const name of fresh) run.fleet.add(name, since);
      await run.advance(MINUTE + 5 * MINUTE);
      const sweeps = await sweepsUntilFound(run, [...returned, ...fresh], since);
      expect(sweeps).toHaveLength(2 * late);
      expect(Math.max(...sweeps)).toBeLessThanOrEqual(5);
      await run.sim.stop();
    },
  );

  it.each([70, 113, 200, 290].flatMap((lag) => [9, 30, 216].map((machines) => [lag, machines] as const)))(
    'all records %i s late, and sweeps an hour apart: all %i machines are found within five',
    async (lag, machines) => {
      const options = { intervalMs: HOUR };
      const run = new FleetRun({ machines, options, lateMs: () => lag * 1_000, seed: machines + lag });
      await run.sim.clock.advance(4 * HOUR + 10 * MINUTE);
      const { value } = run.sim.view('machines').entry;
      const { machines: held } = value as Machines;
      expect(held).toHaveLength(machines);
      for (const machine of held) expect(run.now - lastSeenOf(machine)).toBeLessThan(11 * MINUTE + (lag + 5) * 1_000);
      await run.sim.stop();
    },
  );

  it.each([9, 30, 90, 100, 300, 1_000])(
    'costs at most what a reach of 75 s would, on average: %i machines',
    async (machines) => {
      const missing = { machine: 0.05 };
      const run = new FleetRun({ machines, missing, latencyMs: machines < 1_000 ? 50 : 200, seed: machines });
      const silent = run.fleet.names.filter((_, i) => i % 50 === 7);
      for (const name of silent) run.fleet.silence(name, run.now - 5 * HOUR);
      await run.sweep(3);
      const steady = await run.sweep(machines < 300 ? 60 : 20);
      const average = steady.reduce((sum, { requests }) => sum + requests.length, 0) / steady.length;
      const live = machines - silent.length;
      const before = Math.ceil((live * 0.95 * 75) / 600);
      expect(average).toBeLessThanOrEqual(1.05 * before + 0.25);
      for (const { requests } of steady) expect(requests.length).toBeLessThanOrEqual(boundOf(live));
      await run.sim.stop();
    },
  );
});
