import { type MachineRecord, PROCESSES } from '../../api/answers/machines.ts';
import type { Span } from '../../api/endpoints.ts';
import { isFailure } from '../../api/errors.ts';
import { isRefusal } from '../../api/refusal.ts';
import { CLOCK_AHEAD_SECONDS } from '../../toolkit/lib/clock.ts';
import { MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE, SECONDS_PER_DAY } from '../../toolkit/lib/duration.ts';
import { unit } from '../../toolkit/lib/random.ts';
import { elapsed, type Milliseconds, type UnixMs, type UnixSeconds } from '../../toolkit/lib/time.ts';
import type { Last, Outcome, Read, ReadContext, Timing } from '../read.ts';
import { liveOf, silentAfter, warningsOf, withRecords, withUnknown } from './fleet.ts';
import { assumedCost, JITTER, type MachinesOptions, machineName } from './options.ts';
import { type Found, NOTHING, RECORDS_KEPT_SECONDS, readPages } from './pages.ts';
import { lastSeen, type Machine, type Machines } from './state.ts';

/** On a scarce budget, only one sweep in so many looks for late records, and the names are listed as rarely. */
const SWEEPS_PER_RARE = 30;

/** Reads the new records of all machines, and requests live machines that have none by name. */
export function sweepRead(options: MachinesOptions): Read<Machines> {
  return {
    name: 'sweep',
    endpoints: ['machine_metrics'],
    everyMs: options.intervalMs,
    assumed: assumedCost(options),
    // A scarce budget also has to pay for the late records.
    price: ({ intervalMs, isStretched }, usual) =>
      ((usual + (isStretched ? 1 / SWEEPS_PER_RARE : 0)) * MS_PER_DAY) / intervalMs,
    due: (_value, last, { intervalMs }, tick) => tick + jitterMs(last, intervalMs),
    run: (context, value) => sweep(options, context, value),
  };
}

/**
 * Sweeps at an even pace could miss the same machine each time, because its pushes have an even pace too. The delay depends only on the
 * last attempt, so that every computation of the schedule gives the same, also after a restart. A sweep that takes the whole interval
 * needs no delay: its length varies by itself.
 */
function jitterMs({ attemptAt, durationMs }: Last, intervalMs: Milliseconds): Milliseconds {
  const most = Math.min(JITTER * intervalMs, intervalMs - durationMs);
  return Math.floor(unit(attemptAt) * Math.max(0, most));
}

/** How often to do what not every sweep does. Sweeps rarer than configured mean a scarce budget. */
export function rarely(everyMs: Milliseconds, sweepMs: Milliseconds, configuredMs: Milliseconds): Milliseconds {
  return sweepMs > configuredMs ? Math.max(everyMs, SWEEPS_PER_RARE * sweepMs) : everyMs;
}

async function sweep(options: MachinesOptions, context: ReadContext, previous: Machines): Promise<Outcome<Machines>> {
  const { api, timing, events } = context;
  // By the service's clock, which selects the records: ours counts as right even if up to a minute fast.
  const began = (): UnixMs => timing.now - Math.floor(api.fastMs() / 1000) * 1000;
  const range = rangeOf(options, previous, { ...timing, now: began() });
  const swept = await readNew(context, range);
  const times = { beganAt: Math.floor(began() / 1000), ...(range.start < range.newFrom && { lateAt: began() }) };
  const live = liveOf(options, previous, timing);
  const [silentMs, half] = [silentAfter(options, timing), live.length / 2];
  const left = absentProcesses(live, swept.records, silentMs, timing, previous.beganAt);
  const named = await readAbsent(context, { ...swept, left }, half, (those, isByName) =>
    rangeOfAbsent(those, range, timing.now, isByName),
  );
  const beyond = beyondRange(live, named.records, range, silentMs);
  const dayAhead = { start: range.end, end: range.end + SECONDS_PER_DAY };
  const { records, failure } = await readAbsent(context, { ...named, left: beyond }, half, () => dayAhead);
  // Complete despite a name that the service does not accept, which would fail every sweep.
  const isComplete = !swept.failure && (!failure || isRefusal(failure) || isFailure(failure, 'bad_request'));
  const known = await withRecords(options, previous, records, { ...timing, now: api.now() }, context.slices());
  const value = { ...known, ...(isComplete && times) };
  events.push(...warningsOf(previous, value, timing));
  if (failure) return { value, failure };
  // An expected name that is not found is requested once a day.
  const askedAt = new Map(value.asked);
  const expected = options.expected.filter((name) => timing.now - (askedAt.get(name) ?? 0) >= MS_PER_DAY);
  return { value: withUnknown(options, value, expected) };
}

/** The most pages of a sweep for late records: six minutes of fifty machines. */
const MAX_PAGES_WITH_LATE = 30;

function readNew(context: ReadContext, range: SweepRange): Promise<Found> {
  let pages = 0;
  return readPages(context, { range }, NOTHING, ({ records }) => {
    pages += 1;
    // The newest records come first.
    const isLate = records.length > 0 && records.every(([, { timestamp }]) => timestamp < range.newFrom);
    return isLate && pages >= MAX_PAGES_WITH_LATE;
  });
}

/** Every machine pushes within this time: clients every 60 s, the standalone pusher every 62 s (api-facts 1.1). */
const MAX_SWEPT_SECONDS = 75;
/** A push takes up to 2 s, and clocks differ. */
const OVERLAP_SECONDS = 5;
/** With a record a minute, this finds records up to five minutes late. A request by name finds later ones. */
const LATE_SECONDS = 360;
/** A sweep this much overdue follows a stop, an outage or sleep. */
const OVERDUE_MS = 2 * MS_PER_MINUTE;

export interface SweepRange extends Span {
  /** The sweep reads all records from this time on, and earlier ones only as far as a few pages reach. */
  readonly newFrom: UnixSeconds;
}

/**
 * The range of a sweep: what came since the start of the last complete one. The first sweep, one an hour, and an overdue one also look for
 * late records.
 */
export function rangeOf(options: MachinesOptions, { beganAt, lateAt }: Machines, timing: Timing): SweepRange {
  const { now, intervalMs } = timing;
  const seconds = Math.floor(now / 1000);
  const newFrom = Math.max(seconds - MAX_SWEPT_SECONDS, seconds - elapsed(beganAt, seconds) - OVERLAP_SECONDS);
  const isOverdue = now - (beganAt ?? seconds) * 1000 > (1 + JITTER) * intervalMs + OVERDUE_MS;
  const isDeep = isOverdue || elapsed(lateAt, now) >= rarely(MS_PER_HOUR, intervalMs, options.intervalMs);
  return { start: isDeep ? seconds - LATE_SECONDS : newFrom, newFrom, end: seconds + CLOCK_AHEAD_SECONDS };
}

/** A process of a machine that has no new record. */
export interface AbsentProcess {
  /** As the API spells it in the held record, and that record's time. Several spellings can share a label. */
  readonly name: string;
  readonly seen: UnixSeconds;
  readonly process: MachineRecord[0];
  /** The next sweep would make its machine silent for the first time. A fast clock can hide it, so search the future once. */
  readonly isLast?: boolean;
}

type SpanOf = (left: readonly AbsentProcess[], isByName: boolean) => Span;

/**
 * The processes of live machines that are not among the records, and whose newest record is older than half of `silentMs`, or would make
 * them silent at the next sweep. Without silent machines, because a sweep finds them when they are back. Machines last seen together follow
 * each other, so that few known records are read again.
 * @param beganAt When the last complete sweep began
 */
export function absentProcesses(
  live: readonly Machine[],
  records: readonly MachineRecord[],
  silentMs: Milliseconds,
  { now, intervalMs }: Timing,
  beganAt: UnixSeconds = 0,
): AbsentProcess[] {
  const found = namesIn(records);
  const lastMs = silentMs - (1 + JITTER) * intervalMs;
  const ageOf = (machine: Machine): Milliseconds => now - lastSeen(machine) * 1000;
  return live
    .filter((machine) => !found.has(machine.name) && ageOf(machine) > Math.min(silentMs / 2, lastMs))
    .flatMap((machine) => {
      const isLast = ageOf(machine) > lastMs && lastSeen(machine) + lastMs / 1000 >= beganAt;
      return processesOf(machine, silentMs).map((one) => ({ ...one, isLast }));
    })
    .sort((a, b) => a.seen - b.seen);
}

/** Without processes that became silent before their machine did. */
function processesOf(machine: Machine, silentMs: Milliseconds): AbsentProcess[] {
  return PROCESSES.flatMap((process) => {
    const held = machine[process];
    if (!held || (lastSeen(machine) - held.timestamp) * 1000 > silentMs) return [];
    return [{ name: held.machine ?? '', seen: held.timestamp, process }];
  });
}

/**
 * Machines whose newest records may be beyond the range, because their clock is fast. If this is not known yet, their newest record lies at
 * the end of the range. Only a sweep for late records looks for such machines.
 */
function beyondRange(
  live: readonly Machine[],
  records: readonly MachineRecord[],
  range: SweepRange,
  silentMs: Milliseconds,
): AbsentProcess[] {
  const foundAfter = (at: UnixSeconds) => namesIn(records.filter(([, { timestamp }]) => timestamp > at));
  const beyond = foundAfter(range.end);
  const atEnd = range.start < range.newFrom ? foundAfter(range.end - MAX_SWEPT_SECONDS) : new Set();
  const isHidden = (one: Machine): boolean => Object.keys(one.learned?.ahead ?? {}).length > 0 || atEnd.has(one.name);
  return live.filter((one) => isHidden(one) && !beyond.has(one.name)).flatMap((one) => processesOf(one, silentMs));
}

function namesIn(records: readonly MachineRecord[]): Set<string> {
  return new Set(records.map(([, { machine }]) => machineName(machine)));
}

/** The `machines` filter takes this many names (api-facts 2). */
const NAMES_PER_REQUEST = 20;

/** A search for the live machines that a sweep has not found. */
interface Search extends Found {
  /** What is still missing: processes, because a page can end between the records of a machine. */
  readonly left: readonly AbsentProcess[];
}

function namesOf(left: readonly AbsentProcess[]): string[] {
  return [...new Set(left.map(({ name }) => name))];
}

/** Searches by name, or reads all machines again if more than half of the live ones are missing. @param half Their number */
async function readAbsent(context: ReadContext, search: Search, half: number, spanOf: SpanOf): Promise<Search> {
  if (search.failure || search.left.length === 0) return search;
  const isMost = namesOf(search.left).length > half;
  let found = isMost ? await readNewest(context, search, spanOf, Math.min(half, NAMES_PER_REQUEST)) : search;
  const { left } = found;
  const names = namesOf(left);
  for (let i = 0; i < names.length && !found.failure; i += NAMES_PER_REQUEST) {
    const some = new Set(names.slice(i, i + NAMES_PER_REQUEST));
    found = await readByName(context, { ...found, left: left.filter(({ name }) => some.has(name)) }, spanOf);
  }
  return found;
}

/** Requests the names that are left until none is left or a request finds nothing new. */
async function readByName(context: ReadContext, search: Search, spanOf: SpanOf): Promise<Search> {
  const next = await readNewest(context, search, spanOf, 0, namesOf(search.left));
  const isOver = next.failure || next.left.length === 0 || next.left.length === search.left.length;
  return isOver ? next : readByName(context, next, spanOf);
}

/**
 * Reads until at most `enough` names are left. The newest record of a process comes first, so a page that finds nothing missing has only
 * older records of others: reading stops there too.
 */
async function readNewest(
  context: ReadContext,
  search: Search,
  spanOf: SpanOf,
  enough: number,
  names?: readonly string[],
): Promise<Search> {
  let { left } = search;
  const range = spanOf(left, names !== undefined);
  const found = await readPages(context, { range, names }, search, ({ records, cursor }) => {
    const before = left.length;
    // The newest of each comes first. A search for several names also finds records that are known.
    const here = new Map(
      records.toReversed().map((one) => [`${one[0]} ${machineName(one[1].machine)}`, one[1].timestamp]),
    );
    left = left.filter(({ name, process, seen }) => !((here.get(`${process} ${machineName(name)}`) ?? 0) > seen));
    const isLast = namesOf(left).length <= enough || (records.length > 0 && left.length === before);
    if (!cursor) left = names ? [] : left.filter((one) => one.isLast);
    return isLast;
  });
  return { ...found, left };
}

/** The range that the sweep has not read of these processes, of which the first was unseen for longest. */
export function rangeOfAbsent(
  those: readonly AbsentProcess[],
  { newFrom, end }: SweepRange,
  now: UnixMs,
  isByName: boolean,
): Span {
  const kept = Math.floor(now / 1000) - RECORDS_KEPT_SECONDS;
  const start = Math.max(Math.floor(those[0]?.seen ?? 0) + 1, kept);
  return { start, end: isByName && those.some(({ isLast }) => isLast) ? end + SECONDS_PER_DAY : newFrom };
}
