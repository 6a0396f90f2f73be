import { boundOf, FleetRun, type FleetRunOptions, missedBy } from '../test/support/fleet-run.ts';
import { table, verdict } from './report.ts';
import { digits, summary } from './stats.ts';

const HOUR = 3_600_000;
const STALE_MS = 600_000;

/** Requests per sweep in steady state on virtual time, against the bound and the floor. */
export async function benchSweep(): Promise<void> {
  const rows: string[][] = [];
  for (const machines of [9, 95, 1_000, 5_000]) {
    for (const pageSizeOver of ['each', 'all'] as const) {
      for (const missing of [{ machine: 0.05 }, { array: 0.05 }]) {
        rows.push(await sweepRow({ machines, pageSizeOver, missing, compares: 'seconds', seed: machines }));
      }
    }
  }
  table(
    'Requests per sweep: 2 % of the machines silent, 5 % of the minutes missing, 300 ms, 5 requests a second',
    ['machines', 'page size', 'missing', 'floor', 'median', 'most', 'bound', 'median/bound', 'takes', 'every', ''],
    rows,
  );
}

async function sweepRow(options: FleetRunOptions): Promise<string[]> {
  const run = new FleetRun({ ...options, latencyMs: 300 });
  const silent = run.fleet.names.filter((_, i) => i % 50 === 7);
  for (const name of silent) run.fleet.silence(name, run.now - 5 * HOUR);
  await run.sweep(2);
  const steady = await run.sweep(options.machines < 1_000 ? 20 : 5);
  await run.sim.stop();
  const live = options.machines - silent.length;
  const pages = options.pageSizeOver === 'each' ? 1 : 3;
  const bound = boundOf(live, options.pageSizeOver);
  const requests = summary(steady.map((sweep) => sweep.requests.length));
  const staleMs = Math.max(STALE_MS, 2 * run.sim.view('machines').timing.intervalMs + 180_000);
  const missed = steady.flatMap((sweep, i) => missedBy(run.fleet, steady[i - 1], sweep, staleMs));
  const gaps = steady.slice(1).map(({ start }, i) => (start - (steady[i]?.start ?? start)) / 1_000);
  return [
    `${options.machines}`,
    options.pageSizeOver === 'each' ? 'per array' : 'over all',
    options.missing?.machine ? 'whole' : 'per array',
    `${pages * Math.ceil(live / 10)}`,
    `${requests.median}`,
    `${requests.most}`,
    digits(bound),
    (requests.median / bound).toFixed(2),
    `${digits(summary(steady.map(({ durationMs }) => durationMs / 1_000)).median)} s`,
    `${digits(summary(gaps).median)} s`,
    verdict(requests.most <= bound && missed.length === 0 && run.refused === 0),
  ];
}
