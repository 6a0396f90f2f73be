import type { Quota } from '../budget/bucket.ts';
import { costOf, type Demand, plan } from '../budget/planner.ts';
import type { Pace, Read } from '../sources/read.ts';
import type { Source } from '../sources/source.ts';
import { MS_PER_DAY } from '../toolkit/lib/duration.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import { attemptOf, type Entry, isOff, requestsPerRun, usual } from './entry.ts';

/** The pace of a read, and what it costs. */
export interface ReadPace extends Pace {
  readonly requestsPerDay: number;
}

/** The paces of the reads of a source on one bucket, by name. */
interface Paces {
  readonly requestsPerDay: number;
  readonly reads: ReadonlyMap<string, ReadPace>;
}

/** A read as the planner sees it. */
interface Planned {
  readonly read: Read<unknown>;
  /** The usual length of a run, with waits for the budget. */
  readonly takesMs: Milliseconds;
  /** The usual requests of a run. */
  readonly usual: number;
  /** Whether it runs once a period, not at each interval. */
  readonly isPeriodic: boolean;
  readonly wasLeftOut: boolean;
}

/** A source as the planner sees it. */
export interface PlannedSource {
  readonly source: Source;
  /** Its newest entry. */
  readonly current: Entry;
}

/** The budget as the scheduler sees it. */
export interface BudgetView {
  /** The bucket of a read. */
  readonly bucketOf: (source: Source, read: Read<unknown>) => string;
  readonly allowedPerDay: (bucket: string) => number;
  readonly quotaOf: (bucket: string) => Quota;
  /** The earliest time the key may be used. Infinity: only after a new key or a restart. */
  readonly keyAt: () => UnixMs;
}

/** The longest interval, even on a tiny budget. */
const MAX_INTERVAL_MS = 31 * MS_PER_DAY;
/**
 * A late read that was left out returns when the budget is this many times its cost, because sweeps of a large fleet and others on the
 * account change the budget by some percent all the time.
 */
const RESUME_FACTOR = 1.1;
/** At least one request a day comes before all shares. */
const FLOOR_PER_DAY = 1;
/** Each step comes much closer, because most prices are nearly proportional to the frequency. */
const PROPORTIONAL_STEPS = 12;
/** A difference below this is a rounding error. */
const ROUNDING = 1e-9;

/**
 * The paces of all reads, by source and name, without reads that the service refuses or the budget leaves out. The reads on one bucket
 * share what it allows.
 */
export function pacesOf(
  sources: readonly PlannedSource[],
  {
    bucketOf,
    allowedPerDay,
    quotaOf,
  }: Pick<BudgetView, 'bucketOf' | 'allowedPerDay'> & Partial<Pick<BudgetView, 'quotaOf'>>,
  now: UnixMs,
): ReadonlyMap<Source, ReadonlyMap<string, ReadPace>> {
  const members = sources.flatMap((one) => one.source.reads.map((read) => ({ one, read })));
  const paces = new Map(sources.map(({ source }) => [source, new Map<string, ReadPace>()]));
  for (const [bucket, own] of Map.groupBy(members, ({ one, read }) => bucketOf(one.source, read))) {
    const allowed = allowedPerDay(bucket);
    const demands = [...Map.groupBy(own, ({ one }) => one)].map(([{ source, current }, reads]) =>
      demandOf(
        source,
        reads
          .filter(({ read }) => read.spare === undefined && !isOff(current, read))
          .map(({ read }) => plannedOf(read, current, now)),
        allowed,
      ),
    );
    const planned = plan(demands, allowed);
    for (const [source, { reads }] of planned) {
      for (const [name, pace] of reads) paces.get(source)?.set(name, pace);
    }
    const left = Math.max(0, allowed - costOf(planned));
    for (const { source, name, pace } of spared(own, allowed, left, quotaOf?.(bucket).isMonthly, now))
      paces.get(source)?.set(name, pace);
  }
  return paces;
}

/**
 * The reads that use what the others leave: the first one of each source, then the second ones. Reads with a limited share of the limits
 * share that too. While no limit is known, each stays as before.
 */
function spared(
  reads: readonly { readonly one: PlannedSource; readonly read: Read<unknown> }[],
  allowed: number,
  left: number,
  isMonthly: boolean | undefined,
  now: UnixMs,
): { source: Source; name: string; pace: ReadPace }[] {
  const spare = reads.filter(({ one, read }) => read.spare !== undefined && !isOff(one.current, read));
  const rank = ({ one, read }: (typeof spare)[number]): number =>
    spare.filter((other) => other.one === one).findIndex((other) => other.read === read);
  let [wanted, rest] = [0, left];
  return spare
    .toSorted((a, b) => rank(a) - rank(b))
    .flatMap(({ one: { source, current }, read }) => {
      const { everyMs, name, spare: share = 1 } = read;
      const planned = plannedOf(read, current, now);
      const [, { requestsPerDay: price }] = paceOf(planned, everyMs, []);
      wanted += price;
      const isAffordable =
        isMonthly === undefined
          ? attemptOf(current, read).lastAttemptAt !== undefined && !planned.wasLeftOut
          : !isMonthly && wanted * (planned.wasLeftOut ? RESUME_FACTOR : 1) <= share * allowed;
      if (share < 1 && !isAffordable) return [];
      const [, pace] = paceOf(planned, price > rest ? (everyMs * price) / rest : everyMs, []);
      rest = Math.max(0, rest - pace.requestsPerDay);
      return [{ source, name, pace }];
    });
}

function plannedOf(read: Read<unknown>, entry: Entry, now: UnixMs): Planned {
  const attempt = attemptOf(entry, read);
  return {
    read,
    takesMs: usual(attempt.durations),
    usual: requestsPerRun(read, attempt),
    isPeriodic: read.period !== undefined && !isOverdue(read, entry, now),
    wasLeftOut: entry.leftOut.includes(read.name),
  };
}

/** The data of a day may be some hours late. */
const PATIENT_INTERVALS = 6;

/**
 * Whether the data of the next period are overdue by so many intervals, for example because the plan lacks them. Then the read runs at
 * each interval, and costs as much as one without a period.
 */
function isOverdue({ name, period, everyMs }: Read<unknown>, { value, reads }: Entry, now: UnixMs): boolean {
  const since = now - PATIENT_INTERVALS * everyMs;
  return reads[name]?.lastAttemptAt !== undefined && (period?.from(value, now) ?? 0) <= since;
}

function demandOf(source: Source, reads: readonly Planned[], allowedPerDay: number): Demand<Source, Paces> {
  const periodic = reads.filter(({ isPeriodic }) => isPeriodic);
  const others = reads.filter(({ isPeriodic }) => !isPeriodic);
  const once = periodic.reduce((sum, one) => sum + wantedOncePer(one), 0);
  return {
    id: source,
    weight: source.share(allowedPerDay),
    floor: once + (others.length > 0 ? FLOOR_PER_DAY : 0),
    fit: (requestsPerDay) => fitted(periodic, others, requestsPerDay),
  };
}

function fitted(periodic: readonly Planned[], others: readonly Planned[], requestsPerDay: number): Paces {
  const reads = new Map<string, ReadPace>();
  let left = requestsPerDay;
  for (const one of periodic) {
    const pace = oncePerPeriod(one, left);
    reads.set(one.read.name, pace);
    left = Math.max(0, left - pace.requestsPerDay);
  }
  for (const [name, pace] of stretched(others, left)) reads.set(name, pace);
  return { requestsPerDay: costOf(reads), reads };
}

function wantedOncePer({ read: { everyMs, period } }: Planned): number {
  return MS_PER_DAY / Math.max(period?.ms ?? 0, everyMs);
}

/** The pace of a read that needs one request a period, however short its interval. */
function oncePerPeriod(one: Planned, requestsPerDay: number): ReadPace {
  const { everyMs } = one.read;
  const wanted = wantedOncePer(one);
  const affordedMs = wanted <= requestsPerDay ? everyMs : MS_PER_DAY / requestsPerDay;
  const intervalMs = bounded(everyMs, affordedMs);
  const isStretched = intervalMs > everyMs;
  return { intervalMs, isStretched, beside: [], requestsPerDay: isStretched ? MS_PER_DAY / intervalMs : wanted };
}

function bounded(everyMs: Milliseconds, ms: Milliseconds): Milliseconds {
  return Math.min(Math.max(everyMs, ms), Math.max(everyMs, MAX_INTERVAL_MS));
}

/**
 * The fastest paces, no faster than configured, that cost at most `requestsPerDay`. First stretches the late reads by a common factor, each
 * up to its slowest interval. If that is not enough, leaves them out one by one, the last one first. Then stretches the others by a common
 * factor.
 */
function stretched(reads: readonly Planned[], requestsPerDay: number): [string, ReadPace][] {
  const basic = reads.filter(({ read }) => read.slowestMs === undefined);
  let late = reads.filter(({ read }) => read.slowestMs !== undefined);
  for (; late.length > 0; late = late.slice(0, -1)) {
    const slowest = paced(basic, late, 1, Number.POSITIVE_INFINITY);
    const resume = late.some(({ wasLeftOut }) => wasLeftOut) ? RESUME_FACTOR : 1;
    if (requestsPerDay < costOf(slowest) * resume) continue;
    return smallestFactor((factor) => paced(basic, late, 1, factor), requestsPerDay);
  }
  return smallestFactor((factor) => paced(basic, [], factor, 1), requestsPerDay);
}

/** The paces at the smallest affordable factor, at least 1. */
function smallestFactor(
  pacesAt: (factor: number) => [string, ReadPace][],
  requestsPerDay: number,
): [string, ReadPace][] {
  let paces = pacesAt(1);
  if (costOf(paces) <= requestsPerDay) return paces;
  // The longest interval is that many times the shortest one, a millisecond.
  let [low, high] = [1, MAX_INTERVAL_MS];
  for (let i = 0, factor = 1; i < PROPORTIONAL_STEPS; i += 1) {
    factor = Math.min(high, (factor * costOf(paces)) / requestsPerDay);
    paces = pacesAt(factor);
    if (Math.abs(costOf(paces) - requestsPerDay) <= requestsPerDay * ROUNDING) return paces;
  }
  while (high / low > 1 + ROUNDING) {
    const middle = Math.sqrt(low * high);
    if (costOf(pacesAt(middle)) <= requestsPerDay) high = middle;
    else low = middle;
  }
  return pacesAt(high);
}

/** @param lateFactor For late reads, up to the slowest interval of each */
function paced(
  basic: readonly Planned[],
  late: readonly Planned[],
  factor: number,
  lateFactor: number,
): [string, ReadPace][] {
  const beside = late.map(({ read }) => read.name);
  return [
    ...basic.map((one) => paceOf(one, one.read.everyMs * factor, beside)),
    ...late.map((one) => {
      const { everyMs, slowestMs = everyMs } = one.read;
      return paceOf(one, Math.min(everyMs * lateFactor, Math.max(everyMs, slowestMs)), beside);
    }),
  ];
}

/** No faster than a run takes: reads of one source do not overlap, and a large read waits for many responses. */
function paceOf({ read, takesMs, usual }: Planned, ms: Milliseconds, beside: readonly string[]): [string, ReadPace] {
  const intervalMs = bounded(read.everyMs, ms);
  const pace = { intervalMs, isStretched: intervalMs > read.everyMs, beside };
  const requestsPerDay = read.price?.(pace, usual) ?? (usual * MS_PER_DAY) / intervalMs;
  if (takesMs <= intervalMs) return [read.name, { ...pace, requestsPerDay }];
  return [read.name, { ...pace, intervalMs: takesMs, requestsPerDay: (requestsPerDay * intervalMs) / takesMs }];
}
