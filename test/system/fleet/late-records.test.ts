import { describe, expect, it } from 'vitest';
import { boundOf, FleetRun, lastSeenOf } from '../../support/fleet-run.ts';
import { HOUR, MINUTE } from '../../support/timing.ts';

const LAGS = [15, 60, 120, 240, 290];

describe('fleet: late records', () => {
  it.each(LAGS.flatMap((lag) => [1, 9, 50].map((machines) => [lag, machines] as const)))(
    'all records %i s late: each of %i machines is found at the first sweep or the second, and kept fresh within the bound',
    async (lag, machines) => {
      const run = new FleetRun({ machines, lateMs: () => lag * 1_000, seed: machines + lag });
      await run.sweep(2);
      expect(run.sweeps.at(-1)?.machines.size).toBe(machines);
      for (const { start, machines: held, requests } of await run.sweep(50)) {
        for (const machine of held.values()) expect(start - lastSeenOf(machine)).toBeLessThan(10 * MINUTE);
        expect(requests.length).toBeLessThanOrEqual(boundOf(machines));
      }
      await run.sim.stop();
    },
  );

  it.each(LAGS)('a new machine and one that is back, of 50, are found within the hour, %i s late', async (lag) => {
    const run = new FleetRun({ machines: 48, lateMs: (id) => (id >= 48 ? lag * 1_000 : 0), seed: lag });
    run.fleet.add('back', Number.NEGATIVE_INFINITY);
    await run.sweep(3);
    expect(run.sweeps.at(-1)?.machines.has('back')).toBe(true);
    run.fleet.silence('back', run.now);
    await run.advance(20 * MINUTE);
    const since = run.now;
    run.fleet.wake('back', since);
    run.fleet.add('new', since);
    await run.advance(HOUR + 8 * MINUTE);
    for (const name of ['back', 'new'])
      expect(run.now - lastSeenOf(run.sweeps.at(-1)?.machines.get(name))).toBeLessThan(10 * MINUTE);
    await run.sim.stop();
  });

  it('a late machine of a large fleet is found when its name is listed, and kept fresh', async () => {
    const run = new FleetRun({ machines: 100, lateMs: (id) => (id >= 100 ? 240_000 : 0) });
    await run.sweep(2);
    run.fleet.add('late', run.now);
    await run.advance(5 * HOUR);
    expect(run.sweeps.at(-1)?.machines.has('late')).toBe(false);
    await run.advance(HOUR + 2 * MINUTE);
    for (const { start, machines } of await run.sweep(20))
      expect(start - lastSeenOf(machines.get('late'))).toBeLessThan(10 * MINUTE);
    await run.sim.stop();
  });

  it.each([70, 200, 290].flatMap((lag) => [9, 90].map((machines) => [lag, machines] as const)))(
    'all records %i s late, and sweeps an hour apart: all %i machines are found, and kept fresh',
    async (lag, machines) => {
      const options = { intervalMs: HOUR };
      const run = new FleetRun({ machines, options, lateMs: () => lag * 1_000, seed: machines + lag });
      for (const { start, machines: held } of await run.sweep(5)) {
        expect(held.size).toBe(machines);
        for (const machine of held.values()) expect(start - lastSeenOf(machine)).toBeLessThan(11 * MINUTE);
      }
      await run.sim.stop();
    },
  );
});
