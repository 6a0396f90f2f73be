import type { AccountPlan } from '../../../src/sandbox/account.ts';
import { limitsOf } from '../../../src/sandbox/account.ts';
import { lastOf } from '../../../src/scheduler/schedules.ts';
import { parseDuration } from '../../../src/toolkit/lib/duration.ts';
import { unit } from '../../../src/toolkit/lib/random.ts';
import { Fleet } from '../model/fleet.ts';
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
  const fleet = new Fleet({ machines, seed });
  let draws = 0;
  const random = (): number => {
    draws += 1;
    return unit(seed, draws);
  };
  const run = new SandboxRun({
    start: NOW,
    budgetOptions: { utilization: UTILIZATION },
    sandbox: { plan, machines: 0 },
    sources: configured(),
    way: () => {
      const latency = least + (most - least) * random();
      const there = latency * random();
      return [there, latency - there];
    },
    instead: (path, body, now) => (path.endsWith('/machine-metrics') ? fleet.answer(JSON.parse(body), now) : undefined),
  });
  const sources = ['machines', 'slashings-mainnet'].map((id) => new Starts(run, id));
  await run.clock.advance(warmUpMinutes * MINUTE);
  const before = run.exchanges.length;
  for (const starts of sources) starts.begin();
  for (let i = 0; i < minutes * 60; i += 1) {
    await run.clock.advance(1_000);
    for (const starts of sources) starts.look();
  }
  const exchanges = run.exchanges.slice(before);
  const refused = run.exchanges.filter(({ status }) => status === 429).length;
  await run.stop();
  const [sweeps, passes] = sources.map((starts) => starts.interval()) as [Interval, Interval];
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

/** When the polls of a source started, and the intervals that were shown. */
class Starts {
  readonly #run: SandboxRun;
  readonly #id: string;
  #starts: number[] = [];
  #reported: number[] = [];

  constructor(run: SandboxRun, id: string) {
    this.#run = run;
    this.#id = id;
  }

  begin(): void {
    this.#starts = [lastOf(this.#run.view(this.#id)).lastAttemptAt ?? 0];
    this.#reported = [];
  }

  look(): void {
    const view = this.#run.view(this.#id);
    this.#reported.push(view.first.pace.intervalMs / 1_000);
    const { lastAttemptAt = 0 } = lastOf(view);
    if (lastAttemptAt !== this.#starts.at(-1)) this.#starts.push(lastAttemptAt);
  }

  interval(): Interval {
    const gaps = this.#starts.slice(1).map((start, i) => (start - (this.#starts[i] ?? start)) / 1_000);
    const mean = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0) / all.length;
    return { reported: mean(this.#reported), measured: mean(gaps) };
  }
}
