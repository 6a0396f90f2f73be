import { silence } from '../src/sandbox/machines.ts';
import { machineIn } from '../test/simulation/service/fleet.ts';
import { type RateSeen, runAtRate } from '../test/simulation/stories/rate.ts';
import { boundOf, missedBy, PlayedFleet, staleMsOf } from '../test/simulation/stories/sweeps.ts';
import { digits, summary, table, verdict } from './report.ts';

const HOUR = 3_600_000;

/** Requests per sweep in steady state on virtual time, against the bound and the floor. */
export async function benchSweep(): Promise<void> {
  const rows: string[][] = [];
  for (const machines of [9, 95, 1_000, 5_000]) {
    for (const pageSizeOver of ['each', 'all'] as const) rows.push(await sweepRow(machines, pageSizeOver));
  }
  table(
    'Requests per sweep: 2 % of the machines silent, 5 % of the minutes missing, 300 ms, 5 requests a second',
    ['machines', 'page size', 'floor', 'median', 'most', 'bound', 'takes', ''],
    rows,
  );
}

async function sweepRow(machines: number, pageSizeOver: 'each' | 'all'): Promise<string[]> {
  const missing = { machine: 0.05 };
  const run = new PlayedFleet({ machines, pageSizeOver, missing, compares: 'seconds', seed: machines, latencyMs: 300 });
  const silent = run.names.filter((_, i) => i % 50 === 7);
  for (const name of silent) silence(machineIn(run.fleet, name), run.now - 5 * HOUR);
  await run.sweep(2);
  const steady = await run.sweep(machines < 1_000 ? 20 : 5);
  const live = machines - silent.length;
  const bound = boundOf(live, pageSizeOver);
  const requests = summary(steady.map((sweep) => sweep.requests.length));
  const staleMs = staleMsOf(run);
  const missed = steady.flatMap((sweep, i) => missedBy(run.fleet, steady[i - 1], sweep, staleMs));
  return [
    `${machines}`,
    pageSizeOver === 'each' ? 'per array' : 'over all',
    `${(pageSizeOver === 'each' ? 1 : 3) * Math.ceil(live / 10)}`,
    `${requests.median}`,
    `${requests.most}`,
    digits(bound),
    `${digits(summary(steady.map(({ durationMs }) => durationMs / 1_000)).median)} s`,
    verdict(requests.most <= bound && missed.length === 0 && run.statuses.every((status) => status === 200)),
  ];
}

const PLANS = { hobbyist: 1, business: 2, scale: 5 } as const;
/** Machines per request a second: below, at and above the size that can be read every minute. */
const FLEETS = [180, 360, 420, 460, 600, 1_200];
/** Milliseconds, on average 100 and 210. */
const LATENCIES = [
  [20, 180],
  [20, 400],
] as const;
const TOLERANCE = 0.1;
/** An interval that changes by less is not logged again. */
const LOG_TOLERANCE = 0.25;

/**
 * The reported and the measured interval of sweeps, and the share of the allowed rate that they use, near the limit of
 * each plan.
 */
export async function benchRate(): Promise<void> {
  const rows: string[][] = [];
  for (const [plan, perSecond] of Object.entries(PLANS)) {
    for (const size of FLEETS) {
      const machines = size * perSecond;
      const seen: RateSeen[] = [];
      for (const latencyMs of LATENCIES)
        seen.push(await runAtRate({ plan: plan as keyof typeof PLANS, machines, seed: machines, latencyMs }));
      rows.push([plan, machines.toLocaleString('en-US'), ...seen.flatMap(cellsOf), verdict(seen.every(isMet))]);
    }
  }
  table(
    'Interval and share of 0.9 x limit near the limit of a plan, at a latency of 20 to 180 and of 20 to 400 ms',
    ['plan', 'machines', ...LATENCIES.flatMap(() => ['requests', 'reported', 'measured', 'used']), ''],
    rows,
  );
}

function cellsOf({ machines: { reported, measured }, requestsPerSweep, share }: RateSeen): string[] {
  return [
    digits(requestsPerSweep),
    `${reported.toFixed(1)} s`,
    `${measured.toFixed(1)} s`,
    `${(100 * share).toFixed(1)} %`,
  ];
}

function isMet({ machines, slashings, logged, refused }: RateSeen): boolean {
  const isClose = (reported: number, measured: number, tolerance: number): boolean =>
    Math.abs(measured / reported - 1) <= tolerance;
  return (
    refused === 0 &&
    isClose(logged, machines.measured, LOG_TOLERANCE) &&
    [machines, slashings].every(({ reported, measured }) => isClose(reported, measured, TOLERANCE))
  );
}
