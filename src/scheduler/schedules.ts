import type { Quota } from '../budget/bucket.ts';
import { type Inputs, NO_INPUTS, type Read, type Timing } from '../sources/read.ts';
import type { Source } from '../sources/source.ts';
import type { Time } from '../toolkit/lib/held-time.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import { type Due, dueAt } from './attempts.ts';
import { type Attempt, attemptOf, type Entry, isOff, requestsPerRun, timingOf } from './entry.ts';
import { type BudgetView, type PlannedSource, pacesOf, type ReadPace } from './paces.ts';

/** How a read runs now. */
export interface ReadSchedule {
  readonly read: Read<unknown>;
  /** The bucket in which its requests count. */
  readonly bucket: string;
  /** The pace that the budget allows. During a pause for the quota that of the last attempt, during a refusal the configured one. */
  readonly pace: ReadPace;
  readonly timing: Timing;
  /** When the next attempt is due and permitted. Infinity if only after a new key or a restart, or with nothing left to read. */
  readonly nextAttemptAt: UnixMs;
  /** The same during a round, in which the read does not wait for the first read. */
  readonly mayRunAt: UnixMs;
  readonly wait?: QuotaWait | undefined;
}

/** How a source runs now. */
export interface Schedule {
  /** The reads that the budget allows, in order. */
  readonly reads: readonly ReadSchedule[];
  /** The first one that the service does not refuse, or simply the first if it refuses all. */
  readonly first: ReadSchedule;
  /** The late reads that the budget leaves out. */
  readonly leftOut: readonly string[];
}

/** The quota delays a read by more than an interval. */
export interface QuotaWait {
  readonly until: UnixMs;
  readonly limit: Quota['limit'];
}

/** A source as the scheduler knows it. */
export interface KnownSource extends PlannedSource {
  /** The last saved entry, which is shown. `current` is newer while saving fails. */
  readonly saved: Entry;
  /** Whether a round, or saving its result, is in progress. */
  readonly running: boolean;
}

export function schedulesOf(
  sources: readonly PlannedSource[],
  budgetView: BudgetView,
  time: Time,
  paces = pacesOf(sources, budgetView, time.now),
): ReadonlyMap<Source, Schedule> {
  const asked = new Set<string>();
  return new Map(
    sources.map(({ source, current }) => [
      source,
      scheduleOf(source, current, valueFor(paces, source), budgetView, asked, time),
    ]),
  );
}

/** Without this tolerance, rounding would make a share of exactly one run too small now and then. */
const ROUNDING = 1e-6;

const NEVER: Due = { at: Number.POSITIVE_INFINITY, isTick: false };

/** What the budget allows a read. */
interface Allowance {
  readonly read: Read<unknown>;
  readonly bucket: string;
  readonly quota: Quota;
  /** Whether the source's share of this bucket is less than one run, from the last run to the end of the quota. */
  readonly isShareTooSmall: boolean;
  /** When the quota permits the next run. */
  readonly quotaAt: UnixMs;
  /** Undefined if the budget leaves the read out, or the service refuses it. */
  readonly planned: ReadPace | undefined;
}

/** How one source runs now, with this entry and these paces. */
function scheduleOf(
  source: Source,
  entry: Entry,
  planned: ReadonlyMap<string, ReadPace>,
  budgetView: BudgetView,
  asked: Set<string>,
  time: Time,
): Schedule {
  const { now } = time;
  const all = source.reads.map((read) => allowanceOf(source, read, entry, planned, budgetView, now));
  // A used-up quota makes every share 0. Until the reset, leave out the same reads as before.
  const leftOut = all.filter(({ read, isShareTooSmall }) => {
    if (!mayBeLeftOut(read) || isOff(entry, read)) return false;
    return isShareTooSmall ? entry.leftOut.includes(read.name) : !planned.has(read.name);
  });
  // A source always has a first read. If the budget leaves out all reads, the first is never due.
  const shown = leftOut.length < all.length ? all.filter((one) => !leftOut.includes(one)) : all.slice(0, 1);
  const paced = shown.map((one) => {
    const isIdle = leftOut.includes(one);
    return { ...one, isIdle, isOn: !isOff(entry, one.read) && !isIdle, pace: paceOf(one, entry, now) };
  });
  const pacesOn = new Map(paced.flatMap(({ read, pace, isOn }) => (isOn ? [[read.name, pace]] : [])));
  const keyAt = budgetView.keyAt();
  let firstAt: UnixMs | undefined;
  const reads = paced.map((one): ReadSchedule => {
    const { read, bucket, pace, isOn, isIdle } = one;
    const timing = timingOf(entry, pace, pacesOn, time);
    const due = isIdle ? NEVER : ifAsked(dueAt(read, entry, timing), one, entry, asked, now);
    const at = due.isTick ? inStep(due.at, firstAt, pace) : due.at;
    if (isOn) firstAt ??= at;
    const permittedAt = Math.max(keyAt, one.quotaAt);
    const [mayRunAt, nextAttemptAt] = [Math.max(due.at, permittedAt), Math.max(at, permittedAt)];
    // Only the quota keeps an enabled read from its planned pace. A wait for the key is no wait for the quota.
    const isWait = isOn && pace !== one.planned && keyAt <= now && nextAttemptAt > (at || now) + pace.intervalMs;
    const wait = isWait ? { until: nextAttemptAt, limit: one.quota.limit } : undefined;
    return { read, bucket, pace, timing, mayRunAt, nextAttemptAt, wait };
  });
  const first = reads.find(({ read }) => !isOff(entry, read)) ?? (reads[0] as ReadSchedule);
  return { reads, first, leftOut: leftOut.map(({ read }) => read.name) };
}

function mayBeLeftOut({ slowestMs, spare = 1 }: Read<unknown>): boolean {
  return slowestMs !== undefined || spare < 1;
}

/**
 * If the operator asks whether the plan has changed, the first read of each bucket that is not paused and has something to read is due at
 * once: this takes the fewest requests.
 * @param asked The buckets whose first read is found. May get the bucket of this read.
 */
function ifAsked(due: Due, { read, bucket, quota }: Allowance, entry: Entry, asked: Set<string>, now: UnixMs): Due {
  const { lastAttemptAt = 0, pausedUntil = 0 } = attemptOf(entry, read);
  const isIdle = due.at === Number.POSITIVE_INFINITY;
  if (isIdle || asked.has(bucket) || pausedUntil > now || isOff(entry, read)) return due;
  asked.add(bucket);
  return lastAttemptAt < (quota.askedAt ?? 0) ? { at: 0, isTick: false } : due;
}

/**
 * A run waits for the reset if the share of its source is less than one run, or if less is left than a run takes, because it would fail in
 * the middle.
 */
function allowanceOf(
  source: Source,
  read: Read<unknown>,
  entry: Entry,
  paces: ReadonlyMap<string, ReadPace>,
  budgetView: BudgetView,
  now: UnixMs,
): Allowance {
  const bucket = budgetView.bucketOf(source, read);
  const quota = budgetView.quotaOf(bucket);
  const siblings = source.reads.filter((one) => budgetView.bucketOf(source, one) === bucket);
  const planned = siblings.flatMap((one) => {
    const { lastAttemptAt = now, intervalMs = 0 } = attemptOf(entry, one);
    // A daily read is due on the last day too, which has a little less than a day left.
    const earnedMs = Math.max(0, Math.min(now - lastAttemptAt, intervalMs));
    const pace = paces.get(one.name);
    return pace ? [{ ...pace, shareMs: (earnedMs + quota.end - now) * (1 + ROUNDING) }] : [];
  });
  const isShareTooSmall =
    planned.length > 0 && planned.every(({ intervalMs, isStretched, shareMs }) => isStretched && intervalMs > shareMs);
  const isShort = isShareTooSmall || quota.left < requestsPerRun(read, attemptOf(entry, read));
  const quotaAt = Math.max(quota.closedUntil, isShort ? quota.resetsAt : 0);
  return { read, bucket, quota, isShareTooSmall, quotaAt, planned: paces.get(read.name) };
}

/** The planned pace; the last one while the quota delays the read by more than an interval; the configured one during a refusal. */
function paceOf({ read, planned, isShareTooSmall, quotaAt }: Allowance, entry: Entry, now: UnixMs): ReadPace {
  if (planned && !isShareTooSmall && quotaAt <= now + planned.intervalMs) return planned;
  const last: Partial<Attempt> = isOff(entry, read) ? {} : attemptOf(entry, read);
  const { intervalMs = read.everyMs, isStretched = false } = last;
  return { intervalMs, isStretched, beside: [], requestsPerDay: 0 };
}

/** A read due by its tick waits this part of its interval for the first read, to run in the same round. */
const WAITS_FOR_FIRST = 1 / 8;

function inStep(at: UnixMs, firstAt: UnixMs | undefined, { intervalMs }: ReadPace): UnixMs {
  return firstAt !== undefined && firstAt > at && firstAt <= at + intervalMs * WAITS_FOR_FIRST ? firstAt : at;
}

/** One source as the rest of the program sees it. */
export interface SourceView extends Schedule {
  readonly source: Source;
  readonly entry: Entry;
  /** The timing for showing its values: the intervals of the last attempts, if these were longer. */
  readonly timing: Timing;
  readonly inputs: Inputs;
  readonly running: boolean;
}

/** The view of each source, in the same order. */
export function sourceViews(sources: readonly KnownSource[], budgetView: BudgetView, time: Time): SourceView[] {
  const schedules = schedulesOf(sources, budgetView, time);
  return sources.map(({ source, saved: entry, running }) => {
    const schedule = valueFor(schedules, source);
    const paces = new Map(schedule.reads.flatMap((one) => (isOff(entry, one.read) ? [] : [shownPace(one, entry)])));
    const [, pace] = shownPace(schedule.first, entry);
    return {
      ...schedule,
      source,
      entry,
      timing: timingOf(entry, pace, paces, time),
      inputs: inputsFor(source, sources),
      running,
    };
  });
}

/** A value that was read for a longer interval does not become stale when the interval gets shorter. */
function shownPace({ read, pace }: ReadSchedule, entry: Entry): [string, ReadPace] {
  const { intervalMs = 0 } = attemptOf(entry, read);
  return [read.name, { ...pace, intervalMs: Math.max(pace.intervalMs, intervalMs) }];
}

/** What a source gets from the saved values of its chain's sources, and the keys that other chains know. */
export function inputsFor({ chain }: Source, sources: readonly Pick<KnownSource, 'source' | 'saved'>[]): Inputs {
  const given = Map.groupBy(sources, ({ source }) => source.chain);
  const givenBy = (all: typeof sources = []) => all.map(({ source, saved }) => source.more?.gives?.(saved.value) ?? {});
  const others = [...given].flatMap(([other, all]) => (other && other !== chain ? givenBy(all) : []));
  const keysElsewhere = others.flatMap(({ keys }) => (keys ? [keys] : []));
  return Object.assign({ ...NO_INPUTS, keysElsewhere }, ...givenBy(given.get(chain)));
}

/** The last attempt at the first read that is on. */
export function lastOf({ entry, first }: Pick<SourceView, 'entry' | 'first'>): Attempt {
  return attemptOf(entry, first.read);
}

/** When the last success ended, of the first read that is on and was attempted. Undefined without one. */
export function lastSuccessAt(view: Pick<SourceView, 'entry' | 'reads' | 'leftOut'>): UnixMs | undefined {
  return attemptsOn(view).find(({ lastAttemptAt }) => lastAttemptAt !== undefined)?.lastSuccessAt;
}

/** Whether any read was attempted, also one that is refused. */
export function wasAttempted({ entry, reads }: Pick<SourceView, 'entry' | 'reads'>): boolean {
  return reads.some(({ read }) => attemptOf(entry, read).lastAttemptAt !== undefined);
}

/** The last attempts at the reads that are on and fail, in order. */
export function failuresOf(view: Pick<SourceView, 'entry' | 'reads' | 'leftOut'>): Attempt[] {
  return attemptsOn(view).filter(({ failuresInARow }) => failuresInARow > 0);
}

/** The age of the newest data at the last response, if more than usual, otherwise 0. The oldest of the reads. */
export function behindOf(view: Pick<SourceView, 'entry' | 'reads' | 'leftOut'>): Milliseconds | undefined {
  const ages = attemptsOn(view).flatMap(({ behindMs }) => behindMs ?? []);
  return ages.length > 0 ? Math.max(...ages) : undefined;
}

function attemptsOn({ entry, reads, leftOut }: Pick<SourceView, 'entry' | 'reads' | 'leftOut'>): Attempt[] {
  const on = reads.filter(({ read }) => !isOff(entry, read) && !leftOut.includes(read.name));
  return on.map(({ read }) => attemptOf(entry, read));
}

/** Whether each source was attempted, in this process or before, or may not be attempted yet. */
export function isReady(views: readonly SourceView[], now: UnixMs): boolean {
  return views.every(
    (view) => lastOf(view).lastAttemptAt !== undefined || (!view.running && view.first.nextAttemptAt > now),
  );
}

/** The requests of a source a day at its pace. */
export function requestsPerDay({ reads }: Pick<Schedule, 'reads'>): number {
  return reads.reduce((sum, { pace }) => sum + pace.requestsPerDay, 0);
}

/** Looks up a key that is always present. */
export function valueFor<K, T>(all: ReadonlyMap<K, T>, key: K): T {
  const one = all.get(key);
  if (one === undefined) throw new TypeError('nothing for this key');
  return one;
}
