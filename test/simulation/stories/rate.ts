import { type AccountPlan, limitsOf } from '../../../src/sandbox/account.ts';
import { parseDuration } from '../../../src/toolkit/lib/duration.ts';
import { MINUTE, SECOND } from '../../support/time/timing.ts';
import { countingFleet } from '../service/fleet.ts';
import { Played } from './played.ts';

export interface RateOptions {
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
const LOOK_EVERY_MS = 10 * SECOND;

/** Plays a fleet and one chain at the limit of a plan, with the default configuration. */
export async function runAtRate(options: RateOptions) {
  const { machines, plan, latencyMs, minutes = 60, warmUpMinutes = 20, seed = 1 } = options;
  const [low, high] = latencyMs;
  const story = new Played({
    sandbox: { plan, machines: countingFleet({ machines, seed }) },
    latency: { low, high, isEven: true },
  });
  await story.advance(warmUpMinutes * MINUTE);
  const before = story.requests.length;
  const labels = ['source="machines"', 'source="slashings",chain="mainnet"'];
  const seen = labels.map((of) => ({ of, reported: [] as number[], starts: new Set<number>() }));
  for (const end = story.now + minutes * MINUTE; story.now < end; ) {
    for (const { of, reported, starts } of seen) {
      reported.push(story.shown(`source_interval_seconds{${of}}`) ?? Number.NaN);
      starts.add(story.shown(`source_last_attempt_timestamp_seconds{${of}}`) ?? Number.NaN);
    }
    await story.advance(LOOK_EVERY_MS);
  }
  const sent = story.requests.slice(before);
  const [sweeps, passes] = seen.map(({ reported, starts }) => ({
    reported: reported.reduce((sum, one) => sum + one, 0) / reported.length,
    measured: (Math.max(...starts) - Math.min(...starts)) / (starts.size - 1),
  })) as [Interval, Interval];
  const pages = sent.filter(({ endpoint }) => endpoint === 'machine_metrics').length;
  const logged = story.log.findLast(({ intervals }) => intervals)?.['intervals'] as { machines?: string } | undefined;
  return {
    machines: sweeps,
    slashings: passes,
    /** The interval of the machines as last logged, seconds. */
    logged: (parseDuration(logged?.machines ?? '') ?? Number.NaN) / 1_000,
    /** Average number of requests per sweep. */
    requestsPerSweep: (pages * sweeps.measured) / (minutes * 60),
    /** Rate of requests, as a share of `utilization` x limit. */
    share: sent.length / (minutes * 60 * limitsOf(plan).perSecond * UTILIZATION),
    refused: story.statuses.filter((status) => status === 429).length,
  };
}
