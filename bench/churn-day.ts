/**
 * A simulated day of a fleet in which machines come, go and take other names, with everything between wire and /metrics.
 * Sends its memory every hour; started with --expose-gc.
 */
import { Exposition } from '../src/metrics/exposition.ts';
import { FleetRun } from '../test/support/fleet-run.ts';

export interface Hour {
  readonly hour: number;
  readonly known: number;
  readonly heapMiB: number;
  readonly rssMiB: number;
}

const MACHINES = 100;
const HOUR = 3_600_000;
/** So many of the machines are others an hour later. */
const CHANGED = 10;

const run = new FleetRun({
  machines: MACHINES,
  missing: { machine: 0.05 },
  options: { forgetAfterMs: 2 * HOUR },
  onChange: () => exposition.touch('machines'),
});
const { sim, fleet } = run;
const exposition = new Exposition(
  [
    {
      name: 'machines',
      families: () => {
        const { source, entry, timing } = sim.view('machines');
        return source.families(entry.value, timing);
      },
      nextChange: () => {
        const { source, entry, timing } = sim.view('machines');
        return source.nextChange(entry.value, timing);
      },
    },
  ],
  sim.clock,
  (error) => {
    throw error;
  },
);
const abort = new AbortController();
const loop = exposition.run(abort.signal);

const names = fleet.names;
for (let hour = 1; hour <= 24; hour += 1) {
  for (let i = 0; i < CHANGED; i += 1) {
    fleet.silence(names.shift() ?? '', sim.clock.now());
    const name = `machine-${hour}-${i}`;
    fleet.add(name, sim.clock.now());
    names.push(name);
  }
  for (let minute = 0; minute < 60; minute += 1) await sim.clock.advance(60_000);
  // What only the simulation remembers.
  fleet.requests.length = 0;
  sim.exchanges.length = 0;
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  const { machines } = sim.view('machines').entry.value as { machines: unknown[] };
  const seen: Hour = { hour, known: machines.length, heapMiB: heapUsed / 2 ** 20, rssMiB: rss / 2 ** 20 };
  process.send?.(seen);
}
abort.abort();
await Promise.all([loop, sim.stop()]);
process.disconnect?.();
