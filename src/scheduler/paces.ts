import { type Demand, plan } from '../budget/planner.ts';
import type { Milliseconds } from '../lib/time.ts';
import { type Coverage, evenPace, type Pace, type Source } from '../sources/source.ts';

/** What the limits leave, as far as a source is concerned. */
export interface Allowance {
  /** The limits that the source's requests count in. */
  bucketOf(source: Source): string;
  allowedPerDay(bucket: string): number;
}

/** What a source was seen to cost, to take and to cover. */
export interface SourceDemand {
  readonly source: Source;
  readonly requestsPerPoll: number;
  /** Waits for the budget included. */
  readonly msPerPoll?: Milliseconds;
  /** It looks for the day's data at every interval, without an end in sight: then it costs what others do. */
  readonly isDataOverdue?: boolean;
  /** What its last poll covered. */
  readonly coverage?: Coverage | undefined;
}

/** The pace of every source: those that draw from one bucket share what it allows. */
export function pacesOf(sources: readonly SourceDemand[], allowance: Allowance): ReadonlyMap<Source, Pace> {
  const paces = new Map<Source, Pace>();
  const byBucket = Map.groupBy(sources, ({ source }) => allowance.bucketOf(source));
  for (const [bucket, members] of byBucket) {
    const demands = members.map(
      ({ source, requestsPerPoll, msPerPoll = 0, isDataOverdue = false, coverage }): Demand<Source, Pace> => ({
        id: source,
        weight: source.weight,
        first: source.isDaily && !isDataOverdue,
        fit: (requestsPerDay) =>
          noFasterThan(
            msPerPoll,
            isDataOverdue
              ? evenPace(source.intervalMs, requestsPerDay, requestsPerPoll)
              : source.pace(requestsPerDay, requestsPerPoll, coverage),
          ),
      }),
    );
    for (const [source, pace] of plan(demands, allowance.allowedPerDay(bucket))) paces.set(source, pace);
  }
  return paces;
}

/**
 * Polls of one source do not overlap, and a large one also waits for answers: where these take long, less than the limit
 * allows can leave.
 */
function noFasterThan(ms: Milliseconds, pace: Pace): Pace {
  const { intervalMs, requestsPerDay } = pace;
  if (ms <= intervalMs) return pace;
  return { ...pace, intervalMs: ms, requestsPerDay: (requestsPerDay * intervalMs) / ms };
}

/** How much an interval may drift before it is worth a line in the log. */
const MATERIAL_RATIO = 1.25;

/** Whether the paces differ so much that the operator should hear of it. */
export function isMaterialChange(before: ReadonlyMap<unknown, Pace>, after: ReadonlyMap<unknown, Pace>): boolean {
  return [...after].some(([source, pace]) => {
    const known = before.get(source);
    if (!known || known.coverage !== pace.coverage) return true;
    const ratio = pace.intervalMs / known.intervalMs;
    return ratio >= MATERIAL_RATIO || ratio <= 1 / MATERIAL_RATIO;
  });
}
