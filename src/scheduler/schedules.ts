import type { Quota } from '../budget/bucket.ts';
import { type Demand, plan } from '../budget/planner.ts';
import { evenPace, type Pace, type Source, type Timing } from '../sources/source.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import { type Entry, msPerPoll, requestsPerPoll, sourceId } from './entry.ts';
import { isOverdue, nextPollAt } from './polls.ts';

/** How a source runs now. */
export interface Schedule {
  /** The pace that the budget allows; while the source waits for the quota, the last one that it allowed. */
  readonly pace: Pace;
  /** When the next attempt is due and permitted; Infinity: not before a new key or a restart. */
  readonly nextAttemptAt: UnixMs;
  readonly wait?: Wait;
}

/** The quota keeps a source waiting for more than its interval after it is due. */
export interface Wait {
  readonly until: UnixMs;
  readonly limit: Quota['limit'];
}

/** One source as the rest of the program sees it. */
export interface SourceView extends Schedule {
  readonly source: Source;
  /** The bucket in which its requests count, as far as known. */
  readonly bucket: string;
  readonly entry: Entry;
  /** The timing for which its families are computed. */
  readonly timing: Timing;
  /** The parts that are on and that the service may refuse. */
  readonly parts: ReturnType<NonNullable<Source['parts']>>;
  /** Whether a poll, or saving its result, is in progress. */
  readonly running: boolean;
}

/** The entries of one source. */
export interface KnownSource {
  readonly source: Source;
  /** The entry that was persisted last. */
  readonly saved: Entry;
  /** The newest entry; newer than `saved` while it cannot be persisted. */
  readonly current: Entry;
  readonly running: boolean;
}

/** The budget as the scheduler sees it. */
export interface BudgetView {
  /** The bucket in which the requests of the source count. */
  readonly bucketOf: (source: Source) => string;
  readonly allowedPerDay: (bucket: string) => number;
  readonly quotaOf: (bucket: string) => Quota;
  /** When a request may be sent with the key; Infinity: not before a new key or a restart. */
  readonly keyAt: () => UnixMs;
}

type Polled = Pick<KnownSource, 'source' | 'current'>;

/** The pace of every source. Sources on one bucket share what it allows. */
export function pacesOf(
  sources: readonly Polled[],
  { bucketOf, allowedPerDay }: Pick<BudgetView, 'bucketOf' | 'allowedPerDay'>,
  now: UnixMs,
): ReadonlyMap<Source, Pace> {
  const byBucket = Map.groupBy(sources, ({ source }) => bucketOf(source));
  return new Map(
    [...byBucket].flatMap(([bucket, members]) => [
      ...plan(
        members.map((member) => demandOf(member, now)),
        allowedPerDay(bucket),
      ),
    ]),
  );
}

function demandOf({ source, current: entry }: Polled, now: UnixMs): Demand<Source, Pace> {
  const cost = requestsPerPoll(entry);
  // Until its data are published, a daily source polls at every interval and costs as much as any other.
  const isEven = source.isDaily && isOverdue(source, entry, now);
  const paceFor = (requestsPerDay: number): Pace =>
    isEven
      ? evenPace(source.intervalMs, requestsPerDay, cost)
      : source.pace(requestsPerDay, cost, entry.coverage, entry.value);
  return {
    id: source,
    weight: source.weight,
    first: source.isDaily && !isEven,
    fit: (requestsPerDay) => noFasterThan(msPerPoll(entry), paceFor(requestsPerDay)),
  };
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

/** How each source runs now. */
export function schedulesOf(
  sources: readonly Polled[],
  budgetView: BudgetView,
  now: UnixMs,
): ReadonlyMap<Source, Schedule> {
  const paces = pacesOf(sources, budgetView, now);
  const asked = new Set<string>();
  return new Map(
    sources.map(({ source, current }) => {
      const bucket = budgetView.bucketOf(source);
      const { askedAt = 0 } = budgetView.quotaOf(bucket);
      // The first source that is not paused takes the fewest requests to show whether the plan is still the same.
      const isAsker = !asked.has(bucket) && (current.pausedUntil ?? 0) <= now;
      if (isAsker) asked.add(bucket);
      const isDueNow = isAsker && (current.lastAttemptAt ?? 0) < askedAt;
      const known = { source, current: isDueNow ? { ...current, isDueNow } : current };
      return [source, scheduleOf(known, valueFor(paces, source), budgetView, now)];
    }),
  );
}

/** Without a tolerance, rounding would make a share of exactly one poll too small in one moment and enough in the next. */
const ROUNDING = 1e-6;

/**
 * A source waits for the reset if its share of the quota is less than one poll, or what is left less than its next poll
 * takes, which would fail in the middle. Its interval and staleness do not change during the wait.
 */
function scheduleOf({ source, current: entry }: Polled, planned: Pace, budgetView: BudgetView, now: UnixMs): Schedule {
  const quota = budgetView.quotaOf(budgetView.bucketOf(source));
  const keyAt = budgetView.keyAt();
  const isShareTooSmall = planned.intervalMs > (quota.end - now) * (1 + ROUNDING);
  const isShort = isShareTooSmall || quota.left < requestsPerPoll(entry);
  const quotaAt = Math.max(quota.closedUntil, isShort ? quota.resetsAt : 0);
  const permittedAt = Math.max(keyAt, quotaAt);
  if (!isShareTooSmall && quotaAt <= now + planned.intervalMs) {
    return { pace: planned, nextAttemptAt: nextPollAt(source, entry, { now, ...planned }, permittedAt) };
  }
  const { intervalMs = source.intervalMs, coverage = planned.coverage } = entry;
  const timing = { now, intervalMs, coverage };
  const nextAttemptAt = nextPollAt(source, entry, timing, permittedAt);
  // 0 at the first poll.
  const dueAt = nextPollAt(source, entry, timing, 0) || now;
  const pace = { intervalMs, coverage, requestsPerDay: 0 };
  // A wait for the key is not one for the quota.
  if (keyAt > now || nextAttemptAt <= dueAt + intervalMs) return { pace, nextAttemptAt };
  return { pace, nextAttemptAt, wait: { until: nextAttemptAt, limit: quota.limit } };
}

/** The view of each source, in the same order. */
export function sourceViews(sources: readonly KnownSource[], budgetView: BudgetView, now: UnixMs): SourceView[] {
  const schedules = schedulesOf(sources, budgetView, now);
  return sources.map(({ source, saved, running }) => {
    const schedule = valueFor(schedules, source);
    const { intervalMs, coverage } = schedule.pace;
    // A value that was polled for a longer interval does not become stale when the interval gets shorter.
    const timing = { now, intervalMs: Math.max(intervalMs, saved.intervalMs ?? 0), coverage };
    const parts = source.parts?.(saved.value) ?? [];
    return { ...schedule, source, bucket: budgetView.bucketOf(source), entry: saved, timing, parts, running };
  });
}

/** Whether each source was attempted, was restored, or may not be attempted yet. */
export function isReady(views: readonly SourceView[], now: UnixMs): boolean {
  return views.every(
    ({ entry, nextAttemptAt, running }) => entry.lastAttemptAt !== undefined || (!running && nextAttemptAt > now),
  );
}

/** The value of a source in a map that has every source. */
export function valueFor<T>(all: ReadonlyMap<Source, T>, source: Source): T {
  const one = all.get(source);
  if (one === undefined) throw new TypeError(`nothing for ${sourceId(source)}`);
  return one;
}
