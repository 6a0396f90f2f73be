import type { AccountPlan } from '../../../src/sandbox/account.ts';
import { limitsOf } from '../../../src/sandbox/account.ts';
import { lastOf } from '../../../src/scheduler/schedules.ts';
import { parseDuration } from '../../../src/toolkit/lib/duration.ts';
import { unit } from '../../../src/toolkit/lib/random.ts';
import { countingFleet } from '../model/fleet.ts';
import { MINUTE, NOW } from '../time/timing.ts';
import { configured } from './month.ts';
import { SandboxRun } from './sandbox-run.ts';

export interface RateRunOptions {
  readonly machines: number;
  readonly plan: AccountPlan;
  /** Bounds of the random latency, milliseconds. The service counts a request at a random time within its latency. */
  readonly latencyMs: readonly [least: number, most: number];
  /** How long is measured, after `warmUpMinutes`. */
  readonly minutes?: number;
  readonly warmUpMinutes?: number;
  readonly seed?: number;
}

/** Seconds between two starts: as `beaconchain_source_interval_seconds` says, and as measured. Averages. */
export interface Interval {
  readonly reported: number;
  readonly measured: number;
}

export type RateSeen = Awaited<ReturnType<typeof runAtRate>>;

const UTILIZATION = 0.9;

/** Runs a fleet and one chain at the limit of a plan, with the default configuration, on virtual time. */
export async function runAtRate(options: RateRunOptions) {
  const { machines, plan, latencyMs, minutes = 60, warmUpMinutes = 20, seed = 1 } = options;
  const [least, most] = latencyMs;
  let draws = 0;
  const random = (): number => unit(seed, ++draws);
  const run = new SandboxRun({
    start: NOW,
    budgetOptions: { utilization: UTILIZATION },
    sandbox: { plan, machines: countingFleet({ machines, seed }) },
    sources: configured(),
    way: () => {
      const latency = least + (most - least) * random();
      const there = latency * random();
      return [there, latency - there];
    },
  });
  await run.clock.advance(warmUpMinutes * MINUTE);
  const before = run.exchanges.length;
  const shown = ['machines', 'slashings-mainnet'].map((id) => ({
    id,
    reported: [] as number[],
    starts: new Set<number>(),
  }));
  for (let second = 0; second < minutes * 60; second += 1) {
    for (const { id, reported, starts } of shown) {
      const view = run.view(id);
      reported.push(view.first.pace.intervalMs / 1_000);
      starts.add((lastOf(view).lastAttemptAt ?? 0) / 1_000);
    }
    await run.clock.advance(1_000);
  }
  const exchanges = run.exchanges.slice(before);
  const refused = run.exchanges.filter(({ status }) => status === 429).length;
  await run.stop();
  const [sweeps, passes] = shown.map(({ reported, starts }) => ({
    reported: reported.reduce((sum, one) => sum + one, 0) / reported.length,
    measured: (Math.max(...starts) - Math.min(...starts)) / (starts.size - 1),
  })) as [Interval, Interval];
  const pages = exchanges.filter(({ path }) => path.endsWith('/machine-metrics')).length;
  return {
    machines: sweeps,
    slashings: passes,
    /** The interval of the machines as last logged, seconds. */
    logged: (parseDuration(run.plans.at(-1)?.intervals['machines'] ?? '') ?? Number.NaN) / 1_000,
    /** Average number of requests per sweep. */
    requestsPerSweep: (pages * sweeps.measured) / (minutes * 60),
    /** Rate of requests, as a share of `utilization` x limit. */
    share: exchanges.length / (minutes * 60 * limitsOf(plan).perSecond * UTILIZATION),
    refused,
  };
}
