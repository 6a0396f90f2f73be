import type { Quota } from '../budget/quota.ts';
import type { UnixMs } from '../lib/time.ts';
import type { Pace, Source, Timing } from '../sources/source.ts';
import { type Entry, msPerPoll, requestsPerPoll, sourceId } from '../state/entry.ts';
import { type Allowance, pacesOf, type SourceDemand } from './paces.ts';
import { isDataOverdue } from './plan.ts';
import { isUsableInterval, type Schedule, scheduleOf, type Wait } from './schedule.ts';

/** One source as the rest of the program sees it. */
export interface SourceView {
  readonly source: Source;
  /** The bucket in which its requests count, as far as known. */
  readonly bucket: string;
  readonly entry: Entry;
  /** The pace that the budget allows; while the source waits for the quota, the last one that it allowed. */
  readonly pace: Pace;
  /** The timing for which its families are computed. */
  readonly timing: Timing;
  /** When the next attempt is due and permitted; Infinity: not before a new key or a restart. */
  readonly nextAttemptAt: UnixMs;
  /** Present while the source waits for the quota. */
  readonly wait?: Wait;
  /** Whether a poll, or saving its result, is in progress. */
  readonly running: boolean;
}

/** What is known of one source. */
export interface KnownSource {
  readonly source: Source;
  /** The entry that was persisted last. */
  readonly saved: Entry;
  /** The newest entry; newer than `saved` while it cannot be persisted. */
  readonly current: Entry;
  readonly running: boolean;
}

/** The budget as the scheduler sees it. */
export interface BudgetView extends Allowance {
  readonly quotaOf: (bucket: string) => Quota;
  /** When the requests of a source may be sent. */
  readonly opensAt: (source: Source) => UnixMs;
}

/** How each source runs now. */
export function schedulesOf(
  sources: readonly KnownSource[],
  budgetView: BudgetView,
  now: UnixMs,
): ReadonlyMap<Source, Schedule> {
  const planned = pacesOfKnown(sources, budgetView);
  const wholeOf = wholePaces(sources, budgetView);
  const quotas = new Map<string, Quota>();
  return new Map(
    sources.map(({ source, current: entry }) => {
      const bucket = budgetView.bucketOf(source);
      const quota = quotas.get(bucket) ?? budgetView.quotaOf(bucket);
      quotas.set(bucket, quota);
      const paces = { planned: valueFor(planned, source), whole: () => wholeOf(source) };
      return [source, scheduleOf({ source, entry, ...paces, quota, opensAt: budgetView.opensAt(source) }, now)];
    }),
  );
}

/** The pace that a full quota would allow each source; computed on first use, which is rare. */
function wholePaces(sources: readonly KnownSource[], { bucketOf, quotaOf }: BudgetView): (source: Source) => Pace {
  let paces: ReadonlyMap<Source, Pace> | undefined;
  return (source) => {
    paces ??= pacesOfKnown(sources, { bucketOf, allowedPerDay: (bucket) => quotaOf(bucket).wholePerDay });
    return valueFor(paces, source);
  };
}

function pacesOfKnown(sources: readonly KnownSource[], allowance: Allowance): ReadonlyMap<Source, Pace> {
  const demands = sources.map(({ source, current }) => demandOf(source, current));
  return pacesOf(demands, allowance);
}

/** The source with the observed cost, duration and coverage of its polls. */
function demandOf(source: Source, entry: Entry): SourceDemand {
  return {
    source,
    requestsPerPoll: requestsPerPoll(entry),
    msPerPoll: msPerPoll(entry),
    isDataOverdue: isDataOverdue(entry),
    coverage: entry.coverage,
    value: entry.value,
  };
}

/** What is shown of each source, in the same order. */
export function sourceViews(sources: readonly KnownSource[], budgetView: BudgetView, now: UnixMs): SourceView[] {
  const schedules = schedulesOf(sources, budgetView, now);
  const wholeOf = wholePaces(sources, budgetView);
  return sources.map(({ source, saved, running }) => {
    const { pace, nextAttemptAt, wait } = valueFor(schedules, source);
    const { intervalMs: polledForMs = 0 } = saved;
    // A value that was polled for a longer interval does not become stale when the interval gets shorter.
    const intervalMs = isUsableInterval(polledForMs, () => wholeOf(source))
      ? Math.max(pace.intervalMs, polledForMs)
      : pace.intervalMs;
    return {
      source,
      bucket: budgetView.bucketOf(source),
      entry: saved,
      pace,
      timing: { now, intervalMs, coverage: pace.coverage },
      nextAttemptAt,
      ...(wait ? { wait } : {}),
      running,
    };
  });
}

/** The value of a source in a map that has every source. */
export function valueFor<T>(all: ReadonlyMap<Source, T>, source: Source): T {
  const one = all.get(source);
  if (one === undefined) throw new TypeError(`nothing for ${sourceId(source)}`);
  return one;
}
