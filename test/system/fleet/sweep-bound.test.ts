import { describe, expect, it } from 'vitest';
import { boundOf, FleetRun, type FleetRunOptions, lastSeenOf, missedBy, setBack } from '../../support/fleet-run.ts';
import { HOUR, MINUTE } from '../../support/timing.ts';

const STALE = 10 * MINUTE;
/** The pages that a sweep reads at most to find late records, if it takes fewer without them. */
const WITH_LATE = 30;

interface Case extends FleetRunOptions {
  readonly machines: number;
  readonly pageSizeOver: 'each' | 'all';
  readonly missing: { readonly machine?: number; readonly array?: number };
}

const MACHINE = { machine: 0.05 };
const ARRAY = { array: 0.05 };

const CASES: readonly Case[] = [1, 10, 50, 100, 1_000].flatMap((machines) => [
  { machines, pageSizeOver: 'each', compares: 'milliseconds', missing: MACHINE },
  { machines, pageSizeOver: 'each', compares: 'seconds', missing: ARRAY },
  { machines, pageSizeOver: 'all', compares: 'seconds', missing: MACHINE },
]);

/** Two of a hundred, and one of a few. */
function silentOf(names: readonly string[]): string[] {
  return names.filter((_, i) => i % 50 === 7);
}

describe('fleet: sweep bound', () => {
  it.each(CASES)(
    'holds for $machines machines, pages over $pageSizeOver, compared in $compares, minutes missing $missing',
    async (options) => {
      const { machines, pageSizeOver } = options;
      const run = new FleetRun({ ...options, latencyMs: 100, seed: machines });
      const silent = silentOf(run.fleet.names);
      for (const name of silent) run.fleet.silence(name, run.now - 5.5 * HOUR);
      const [first] = await run.sweep(1);
      const steady = await run.sweep(machines < 1_000 ? 50 : 10);

      const bound = boundOf(machines - silent.length, pageSizeOver);
      expect(first?.requests.length).toBeLessThanOrEqual(Math.max(bound, WITH_LATE));
      for (const { requests } of steady) expect(requests.length).toBeLessThanOrEqual(bound);

      const staleMs = Math.max(STALE, 2 * run.sim.view('machines').timing.intervalMs + 3 * MINUTE);
      const missed = run.sweeps.flatMap((sweep, i) => missedBy(run.fleet, run.sweeps[i - 1], sweep, staleMs));
      expect(missed).toEqual([]);
      expect(setBack(run.sweeps)).toEqual([]);
      const named = new Set(steady.flatMap(({ requests }) => requests.flatMap(({ machines: names = [] }) => names)));
      expect(silent.filter((name) => named.has(name))).toEqual([]);

      expect(steady.every(({ ok }) => ok)).toBe(true);
      expect([run.refused, run.warnings]).toEqual([0, []]);
      await run.sim.stop();
    },
  );

  it('is exceeded once an hour, by the search for late records', async () => {
    const run = new FleetRun({ machines: 50 });
    await run.sweep(1);
    const sweeps = await run.sweep(200);
    const dear = sweeps.filter(({ requests }) => requests.length > boundOf(50));
    expect(dear).toHaveLength(3);
    for (const { requests } of dear) expect(requests.length).toBeLessThanOrEqual(WITH_LATE);
    for (const [i, { start }] of dear.entries()) {
      const before = dear[i - 1]?.start ?? run.sweeps[0]?.start ?? 0;
      expect(start - before).toBeGreaterThanOrEqual(HOUR);
      expect(start - before).toBeLessThan(HOUR + 1.1 * MINUTE);
    }
    await run.sim.stop();
  });

  it('is far off when nobody is there: a silent fleet costs one request a sweep', async () => {
    const run = new FleetRun({ machines: 95 });
    await run.sweep(2);
    for (const name of run.fleet.names) run.fleet.silence(name, run.now);
    await run.advance(STALE + 2 * MINUTE);
    for (const { requests } of await run.sweep(30)) expect(requests).toHaveLength(1);
    await run.sim.stop();
  });

  it('holds while a whole fleet falls silent, or half of it', async () => {
    for (const share of [1, 0.5]) {
      const run = new FleetRun({ machines: 1_000, missing: MACHINE });
      await run.sweep(2);
      for (const name of run.fleet.names.slice(0, 1_000 * share)) run.fleet.silence(name, run.now);
      for (const { requests } of await run.sweep(14)) expect(requests.length).toBeLessThanOrEqual(boundOf(1_000));
      await run.sim.stop();
    }
  });

  it('holds whatever the phase: pushers of 60 and 62 s are in every sweep over hours, and nobody is asked for', async () => {
    const run = new FleetRun({ machines: 30, seed: 3 });
    for (let i = 0; i < 30; i += 1) run.fleet.add(`standalone-${i}`, Number.NEGATIVE_INFINITY, 62_000);
    await run.sweep(1);
    for (const { start, requests, machines } of await run.sweep(180)) {
      expect(requests.filter((request) => request.machines)).toEqual([]);
      const oldest = Math.min(...[...machines.values()].map(lastSeenOf));
      expect(start - oldest).toBeLessThan(65_000);
    }
    await run.sim.stop();
  });
});
