import { type Demand, plan } from '../budget/planner.ts';
import type { Milliseconds } from '../lib/time.ts';
import { type Coverage, evenPace, type Pace, type Source } from '../sources/source.ts';

/** The requests per day that the limits leave for sources. */
export interface Allowance {
  /** The bucket in which the requests of the source count. */
  readonly bucketOf: (source: Source) => string;
  readonly allowedPerDay: (bucket: string) => number;
}

/** A source with the observed cost, duration and coverage of its polls. */
export interface SourceDemand {
  readonly source: Source;
  readonly requestsPerPoll: number;
  /** Including waits for the budget. */
  readonly msPerPoll?: Milliseconds;
  /** The data of the day is overdue: the source polls at every interval and costs as much as one that is not daily. */
  readonly isDataOverdue?: boolean;
  /** The coverage of its last poll. */
  readonly coverage?: Coverage | undefined;
  /** What it knows. */
  readonly value?: unknown;
}

/** The pace of every source. Sources on one bucket share what it allows. */
export function pacesOf(sources: readonly SourceDemand[], allowance: Allowance): ReadonlyMap<Source, Pace> {
  const paces = new Map<Source, Pace>();
  const byBucket = Map.groupBy(sources, ({ source }) => allowance.bucketOf(source));
  for (const [bucket, members] of byBucket) {
    const demands = members.map(
      ({ source, requestsPerPoll, msPerPoll = 0, isDataOverdue = false, coverage, value }): Demand<Source, Pace> => ({
        id: source,
        weight: source.weight,
        first: source.isDaily && !isDataOverdue,
        fit: (requestsPerDay) =>
          noFasterThan(
            msPerPoll,
            isDataOverdue
              ? evenPace(source.intervalMs, requestsPerDay, requestsPerPoll)
              : source.pace(requestsPerDay, requestsPerPoll, coverage, value),
          ),
      }),
    );
    for (const [source, pace] of plan(demands, allowance.allowedPerDay(bucket))) paces.set(source, pace);
  }
  return paces;
}

/**
 * Polls of one source do not overlap, and a large poll waits for many answers. If it takes longer than the interval,
 * fewer requests are made than the limit allows.
 */
function noFasterThan(ms: Milliseconds, pace: Pace): Pace {
  const { intervalMs, requestsPerDay } = pace;
  if (ms <= intervalMs) return pace;
  return { ...pace, intervalMs: ms, requestsPerDay: (requestsPerDay * intervalMs) / ms };
}

/** The ratio by which an interval must change to be logged. */
const MATERIAL_RATIO = 1.25;

/** Whether the paces differ so much that the operator should be told. */
export function isMaterialChange(before: ReadonlyMap<unknown, Pace>, after: ReadonlyMap<unknown, Pace>): boolean {
  return [...after].some(([source, pace]) => {
    const known = before.get(source);
    if (!known || known.coverage !== pace.coverage) return true;
    const ratio = pace.intervalMs / known.intervalMs;
    return ratio >= MATERIAL_RATIO || ratio <= 1 / MATERIAL_RATIO;
  });
}
