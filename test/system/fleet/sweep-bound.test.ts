import { describe, expect, it } from 'vitest';
import { boundOf, FleetRun, type FleetRunOptions, lastSeenOf, missedBy, setBack } from '../../support/fleet-run.ts';
import { HOUR, MINUTE } from '../../support/timing.ts';

const STALE = 10 * MINUTE;

interface Case extends FleetRunOptions {
  readonly machines: number;
  readonly compares: 'milliseconds' | 'seconds';
  readonly pageSizeOver: 'each' | 'all';
  readonly missing: { readonly machine?: number; readonly array?: number };
  readonly sweeps: number;
}

const MACHINE = { machine: 0.05 };
const ARRAY = { array: 0.05 };
const NEITHER = {};

/** Every combination where that is quick, each value of each dimension where it is not. */
const CASES: readonly Case[] = [
  ...[9, 95].flatMap((machines) =>
    (['each', 'all'] as const).flatMap((pageSizeOver) =>
      (['milliseconds', 'seconds'] as const).flatMap((compares) =>
        [MACHINE, ARRAY, NEITHER].map((missing) => ({ machines, pageSizeOver, compares, missing, sweeps: 15 })),
      ),
    ),
  ),
  { machines: 1_000, pageSizeOver: 'each', compares: 'milliseconds', missing: MACHINE, sweeps: 10 },
  { machines: 1_000, pageSizeOver: 'each', compares: 'seconds', missing: ARRAY, sweeps: 10 },
  { machines: 1_000, pageSizeOver: 'each', compares: 'seconds', missing: NEITHER, sweeps: 5 },
  { machines: 1_000, pageSizeOver: 'all', compares: 'seconds', missing: MACHINE, sweeps: 5 },
  { machines: 5_000, pageSizeOver: 'each', compares: 'seconds', missing: MACHINE, sweeps: 5 },
  { machines: 5_000, pageSizeOver: 'each', compares: 'milliseconds', missing: ARRAY, sweeps: 3 },
  { machines: 5_000, pageSizeOver: 'all', compares: 'seconds', missing: MACHINE, sweeps: 3 },
];

/** Two of a hundred, and one of a few. */
function silentOf(names: readonly string[]): string[] {
  return names.filter((_, i) => i % 50 === 7);
}

describe('fleet: sweep bound', () => {
  it.each(CASES)(
    'holds for $machines machines, pages over $pageSizeOver, compared in $compares, minutes missing $missing',
    async ({ sweeps: count, ...options }) => {
      const run = new FleetRun({ ...options, latencyMs: options.machines < 1_000 ? 100 : 300, seed: options.machines });
      const silent = silentOf(run.fleet.names);
      for (const name of silent) run.fleet.silence(name, run.now - 5 * HOUR);
      await run.sweep(1);
      const steady = await run.sweep(count);

      const bound =
        boundOf(options.machines - silent.length, options.machines <= 1_000 && options.pageSizeOver === 'each') *
        (options.pageSizeOver === 'each' ? 1 : 3);
      for (const { requests } of steady) expect(requests.length).toBeLessThanOrEqual(bound);

      const staleMs = Math.max(STALE, 2 * run.sim.view('machines').timing.intervalMs + 3 * MINUTE);
      const missed = run.sweeps.flatMap((sweep, i) => missedBy(run.fleet, run.sweeps[i - 1], sweep, staleMs));
      expect(missed).toEqual([]);
      expect(setBack(run.sweeps)).toEqual([]);
      const named = new Set(steady.flatMap(({ requests }) => requests.flatMap(({ machines = [] }) => machines)));
      expect(silent.filter((name) => named.has(name))).toEqual([]);

      // No value goes stale because the next one takes its time, as long as pages are as they seem to be.
      const late = steady.slice(1).flatMap(({ start, durationMs }, i) => {
        const shown = [...(steady[i]?.machines.values() ?? [])].filter(({ name }) => !silent.includes(name));
        return shown.filter((machine) => start + durationMs - lastSeenOf(machine) > staleMs).map(({ name }) => name);
      });
      if (options.pageSizeOver === 'each') expect(late).toEqual([]);

      expect(steady.every(({ ok }) => ok)).toBe(true);
      expect([run.refused, run.warnings]).toEqual([0, []]);
      await run.sim.stop();
    },
  );

  it('is far off when nobody is there: a silent fleet costs one request a sweep', async () => {
    const run = new FleetRun({ machines: 95 });
    await run.sweep(2);
    for (const name of run.fleet.names) run.fleet.silence(name, run.now);
    await run.advance(STALE + 2 * MINUTE);
    for (const { requests } of await run.sweep(30)) expect(requests).toHaveLength(1);
    await run.sim.stop();
  });

  it('is not left far behind while a whole fleet falls silent, or half of it', async () => {
    for (const share of [1, 0.5]) {
      const run = new FleetRun({ machines: 1_000, latencyMs: 300, missing: MACHINE });
      await run.sweep(2);
      for (const name of run.fleet.names.slice(0, 1_000 * share)) run.fleet.silence(name, run.now);
      for (const { requests } of await run.sweep(14)) expect(requests.length).toBeLessThan(1.2 * boundOf(1_000, false));
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
