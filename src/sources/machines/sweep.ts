import { type MachineRecord, PROCESSES, type ProcessRecord } from '../../api/answers/machines.ts';
import type { Span } from '../../api/endpoints.ts';
import type { RequestFailed } from '../../api/errors.ts';
import { CLOCK_AHEAD_SECONDS } from '../../toolkit/lib/clock.ts';
import { MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE, SECONDS_PER_DAY } from '../../toolkit/lib/duration.ts';
import { elapsed, type Milliseconds, type UnixMs, type UnixSeconds } from '../../toolkit/lib/time.ts';
import { isRefusal, refusedUntil } from '../refusal.ts';
import type { Timing } from '../source.ts';
import { afterRecords } from './learned.ts';
import { isIncluded, isKept, type MachinesOptions, machineName } from './options.ts';
import { lastSeen, type Machine, type Machines } from './schema.ts';

/** The times of earlier sweeps. */
export type Progress = Omit<Machines, 'machines' | 'dropped' | 'asked'>;

/** The state before the sweep, and what it has read so far. */
export interface Sweep {
  /** Age from which a machine counts as silent. */
  readonly silentMs: Milliseconds;
  /** The machines before the sweep. */
  readonly before: ReadonlyMap<string, Machine>;
  /** Those of them that were live when the last complete sweep began. */
  readonly live: readonly Machine[];
  /** The records of each machine that are newer than those before the sweep, in any order. */
  readonly newRecords: Map<string, MachineRecord[]>;
  /** Names with a record in this sweep. */
  readonly found: Set<string>;
  /** Names with a request of their own, and when it was sent; 0: not yet. */
  readonly asked: Map<string, UnixMs>;
  progress: Progress;
}

/** Records come up to this late. So a machine that is just silent may already be back. */
const LATEST_MS = 8 * MS_PER_MINUTE;

/** Whether a record is plausible at `now`: not far in the future. */
export function isPlausibleAt(now: UnixMs): (record: ProcessRecord) => boolean {
  const latest = now / 1000 + CLOCK_AHEAD_SECONDS;
  return ({ timestamp }) => timestamp <= latest;
}

export function startSweep(options: MachinesOptions, previous: Machines, now: UnixMs, silentMs: Milliseconds): Sweep {
  const { machines, dropped: _, asked = [], ...progress } = previous;
  const known = machines.filter((machine) => isKept(options, machine, now));
  const before = new Map(known.map((machine) => [machine.name, machine]));
  // What an outage or a stop of the program left out is not the silence of a machine.
  const knownAt = Math.min(now, (progress.beganAt ?? Number.POSITIVE_INFINITY) * 1000);
  return {
    silentMs,
    before,
    live: known.filter((machine) => knownAt - lastSeen(machine) * 1000 <= silentMs + LATEST_MS),
    newRecords: new Map(),
    found: new Set(),
    asked: new Map(asked.filter(([, at]) => at === 0 || elapsed(at, now) < RECORDS_KEPT_SECONDS * 1000)),
    progress,
  };
}

/** Adds a record, whatever came before it. */
export function addRecord({ before, found, newRecords }: Sweep, options: MachinesOptions, one: MachineRecord): void {
  const [process, record] = one;
  const name = machineName(record.machine);
  if (!isIncluded(options, name)) return;
  found.add(name);
  const held = before.get(name)?.[process]?.timestamp ?? 0;
  if (record.timestamp > held) newRecords.set(name, [...(newRecords.get(name) ?? []), one]);
}

/** The state after the sweep. Of too many machines, those go that are not expected, then not live, then unseen for longest. */
export function endSweep(sweep: Sweep, { expected, max }: MachinesOptions): Machines {
  const { before, live, newRecords, asked, progress } = sweep;
  const machines = [...new Set([...before.keys(), ...newRecords.keys()])].map((name): Machine => {
    const held = before.get(name) ?? { name };
    const records = newRecords.get(name);
    return records ? afterRecords(held, records) : held;
  });
  const wasLive = new Set(live.map(({ name }) => name));
  const rankOf = ({ name }: Machine): number => (expected.includes(name) ? 2 : Number(wasLive.has(name)));
  // Both once for each machine, because a sort compares it with a dozen others.
  const kept = machines
    .map((machine) => ({ machine, rank: rankOf(machine), seen: lastSeen(machine) }))
    .sort((a, b) => b.rank - a.rank || b.seen - a.seen)
    .slice(0, max)
    .map(({ machine }) => machine);
  return {
    ...progress,
    machines: kept,
    dropped: machines.length - kept.length,
    asked: [...asked].filter(([name]) => !isKnown(sweep, name)),
  };
}

function isKnown({ before, found }: Sweep, name: string): boolean {
  return before.has(machineName(name)) || found.has(machineName(name));
}

/** Clients push every 60 s, the standalone pusher every 62 (api-facts 1.1). In this time a record of each arrives. */
const MAX_SWEPT_SECONDS = 75;
/** A push takes up to 2 s to be delivered, and clocks differ. */
const OVERLAP_SECONDS = 5;
/** Each machine has a record a minute, so this finds those up to five minutes late. Later ones are found by name. */
const LATE_SECONDS = 360;
const LATE_EVERY_MS = MS_PER_HOUR;
/** A sweep that begins this much after it was due follows a stop, an outage or sleep. */
const OVERDUE_MS = 2 * MS_PER_MINUTE;
/** The service lists the names of the last five hours (api-facts 2). */
const LIST_EVERY_MS = 6 * MS_PER_HOUR;
/** After a failure, which can pass. */
const LIST_AGAIN_MS = MS_PER_HOUR / 2;
/** On a scarce budget, one sweep in so many reads late records and the list. */
const SWEEPS_PER_RARE = 30;
/** The cost of both on a scarce budget, per sweep. */
export const RARE_REQUESTS = 2 / SWEEPS_PER_RARE;

type When = Pick<Timing, 'now' | 'intervalMs'>;

/** `configuredMs`: if the interval is longer, the budget is scarce. */
function isDue(
  last: UnixMs | undefined,
  everyMs: Milliseconds,
  { now, intervalMs }: When,
  configuredMs: Milliseconds,
): boolean {
  const rarelyMs = intervalMs > configuredMs ? SWEEPS_PER_RARE * intervalMs : 0;
  return elapsed(last, now) >= Math.max(everyMs, rarelyMs);
}

export interface SweepRange extends Span {
  /** All records from this time on are read; earlier ones only as far as a few pages reach. */
  readonly newFrom: UnixSeconds;
}

/**
 * The range of a sweep: what came since the last complete one began. The first one, then one an hour, and one that is
 * overdue also look for records that came late.
 */
export function rangeOf({ beganAt, lateAt }: Progress, when: When, configuredMs: Milliseconds): SweepRange {
  const seconds = Math.floor(when.now / 1000);
  const oldest = seconds - MAX_SWEPT_SECONDS;
  const newFrom = Math.max(oldest, seconds - elapsed(beganAt, seconds) - OVERLAP_SECONDS);
  const isOverdue = when.now - (beganAt ?? seconds) * 1000 > (1 + JITTER) * when.intervalMs + OVERDUE_MS;
  const isDeep = isOverdue || isDue(lateAt, LATE_EVERY_MS, when, configuredMs);
  const start = isDeep ? seconds - LATE_SECONDS : newFrom;
  return { start, newFrom, end: seconds + CLOCK_AHEAD_SECONDS };
}

/** A sweep is delayed by up to this share of the interval. */
export const JITTER = 0.1;

/** A name as the API spells it, and when the machine was last seen. */
export interface AbsentName {
  readonly name: string;
  readonly seen: UnixSeconds;
}

/**
 * Live machines that this sweep has not found, and whose record is older than half of `silentMs`, or would make them
 * silent at the next sweep. A silent machine is not requested, because a sweep finds it when it is back. Machines that
 * were last seen together follow each other, so that few known records are read again.
 */
export function absentNames({ silentMs, live, found }: Sweep, { now, intervalMs }: When): AbsentName[] {
  const least = Math.min(silentMs / 2, silentMs - (1 + JITTER) * intervalMs);
  return live
    .filter((machine) => !found.has(machine.name) && now - lastSeen(machine) * 1000 > least)
    .flatMap((machine) => [...rawNames(machine)].map((name) => ({ name, seen: lastSeen(machine) })))
    .sort((a, b) => a.seen - b.seen);
}

/** Where their records may be that the sweep has not read. The first one was unseen for longest. */
export function rangeOfAbsent([oldest]: readonly AbsentName[], { newFrom }: SweepRange, now: UnixMs): Span {
  const kept = Math.floor(now / 1000) - RECORDS_KEPT_SECONDS;
  return { start: Math.max(Math.floor(oldest?.seen ?? 0) + 1, kept), end: newFrom };
}

/** A label can stand for several spellings ("" and "unnamed"). */
function rawNames(machine: Machine): Set<string> {
  return new Set(PROCESSES.flatMap((process) => (machine[process] ? [machine[process].machine ?? ''] : [])));
}

export function isListDue(progress: Progress, when: When, configuredMs: Milliseconds): boolean {
  if (when.now < refusedUntil(progress, 'machine_names')) return false;
  return isDue(progress.namesAt, LIST_EVERY_MS, when, configuredMs);
}

/** The time that counts as that of a failed request for the list. */
export function failedListAt(failure: RequestFailed, now: UnixMs): UnixMs {
  return isRefusal(failure) ? now : now - LIST_EVERY_MS + LIST_AGAIN_MS;
}

/** Notes the unknown names of a list, as far as there is room. */
export function noteNames(sweep: Sweep, options: MachinesOptions, names: readonly string[]): void {
  const { before, asked } = sweep;
  for (const name of names) {
    if (before.size + asked.size >= options.max) return;
    if (isIncluded(options, machineName(name)) && !isKnown(sweep, name) && !asked.has(name)) asked.set(name, 0);
  }
}

/** The service keeps records for 31 days (api-facts 2). */
export const RECORDS_KEPT_SECONDS = 31 * SECONDS_PER_DAY;
/** Each name takes a request: 300 names of an old account take 30 sweeps. */
const MAX_ASKED_PER_SWEEP = 10;

/**
 * The names to request one by one, over all records that the service keeps: in a shared request, the records of one
 * machine could come before the newest one of another. An expected name is requested once a day, any other only once.
 */
export function unknownNames(sweep: Sweep, options: MachinesOptions, now: UnixMs): string[] {
  const { asked } = sweep;
  const expected = options.expected.filter((name) => now - (asked.get(name) ?? 0) >= MS_PER_DAY);
  const listed = [...asked.keys()].filter((name) => asked.get(name) === 0);
  return [...new Set([...expected, ...listed])]
    .filter((name) => isIncluded(options, machineName(name)) && !isKnown(sweep, name))
    .slice(0, MAX_ASKED_PER_SWEEP);
}
