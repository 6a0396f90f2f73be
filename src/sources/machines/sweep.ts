import type { Milliseconds, UnixMs, UnixSeconds } from '../../lib/time.ts';
import type { Span } from '../history.ts';
import { learnAll } from './learned.ts';
import { isIncluded, type MachinesOptions, machineName, RECORDS_PER_PAGE } from './options.ts';
import { type Machine, type MachineRecord, type Machines, PROCESSES, type Process } from './schema.ts';
import { isForgotten, lastSeen } from './shown.ts';

/** The state before the sweep, updated with what it has read so far. */
export interface Sweep {
  readonly machines: Map<string, Machine>;
  /** The machines before the sweep. */
  readonly before: ReadonlyMap<string, Machine>;
  /** The records of each machine that are newer than those before the sweep, in any order. */
  readonly newRecords: Map<string, MachineRecord[]>;
  /** Names with a record in this sweep. */
  readonly found: Set<string>;
  readonly dropped: Set<string>;
  /** Machines that may be dropped if there are too many. The one that has been unseen for longest is last. */
  readonly expendable: string[];
  /** Records of each process so far. */
  readonly records: Record<Process, number>;
  lookback: Machines['lookback'];
  reach: Machines['reach'];
}

/** @param staleMs Age from which a machine counts as silent. */
export function startSweep(options: MachinesOptions, previous: Machines, now: UnixMs, staleMs: Milliseconds): Sweep {
  const known = previous.machines.filter(
    (machine) => isIncluded(options, machine.name) && !isForgotten(options, lastSeen(machine), now),
  );
  const isExpected = ({ name }: Machine): boolean => options.expected.includes(name);
  const byPriority = known.toSorted(
    (a, b) => Number(isExpected(b)) - Number(isExpected(a)) || lastSeen(b) - lastSeen(a),
  );
  const dropped = new Set(byPriority.slice(options.max).map(({ name }) => name));
  const isSilent = (machine: Machine): boolean => now - lastSeen(machine) * 1000 > staleMs;
  const before = new Map(known.filter(({ name }) => !dropped.has(name)).map((machine) => [machine.name, machine]));
  return {
    machines: new Map(before),
    before,
    newRecords: new Map(),
    dropped,
    expendable: byPriority
      .slice(0, options.max)
      .filter((machine) => isSilent(machine) && !isExpected(machine))
      .map(({ name }) => name),
    found: new Set(),
    records: { system: 0, validator: 0, node: 0 },
    lookback: previous.lookback,
    reach: previous.reach,
  };
}

/** Adds a record. It replaces the one that is held only if it is newer. */
export function addRecord(sweep: Sweep, options: MachinesOptions, one: MachineRecord): void {
  const [process, record] = one;
  sweep.records[process] += 1;
  const name = machineName(record.machine);
  if (!isIncluded(options, name)) return;
  let machine = sweep.machines.get(name);
  if (!machine) {
    if (sweep.machines.size >= options.max && !makeRoom(sweep)) {
      sweep.dropped.add(name);
      return;
    }
    sweep.dropped.delete(name);
    machine = { name };
  }
  sweep.found.add(name);
  const isNewerThan = (held: Machine | undefined): boolean => (held?.[process]?.timestamp ?? 0) < record.timestamp;
  if (isNewerThan(sweep.before.get(name))) sweep.newRecords.set(name, [...(sweep.newRecords.get(name) ?? []), one]);
  if (isNewerThan(machine)) sweep.machines.set(name, { ...machine, [process]: record });
}

/** Drops the machine that has been silent for longest. False: none is silent. */
function makeRoom({ machines, found, dropped, expendable }: Sweep): boolean {
  for (let name = expendable.pop(); name !== undefined; name = expendable.pop()) {
    if (found.has(name)) continue;
    machines.delete(name);
    dropped.add(name);
    return true;
  }
  return false;
}

export function endSweep({ machines, before, newRecords, dropped, lookback, reach }: Sweep): Machines {
  const learnedOf = (machine: Machine): Machine => {
    const records = newRecords.get(machine.name);
    return records ? { ...machine, learned: learnAll(before.get(machine.name), records) } : machine;
  };
  return { machines: [...machines.values()].map(learnedOf), dropped: dropped.size, lookback, reach };
}

const SECONDS_PER_PUSH = 60;
/**
 * A sweep of this many pages is read in two concurrent halves, which hides a latency of 300 ms at 5 requests per
 * second.
 */
export const MIN_PAGES_TO_SPLIT = 50;

/**
 * Splits a range, so that a large fleet is read in two sequences at once. Both halves contain the second between them,
 * because it is not documented to which second a record with a fraction belongs. That costs the records of one second.
 */
export function splitRange(range: Span, machines: number): Span[] {
  const pages = (machines * (range.end - range.start)) / SECONDS_PER_PUSH / RECORDS_PER_PAGE;
  const count = pages < MIN_PAGES_TO_SPLIT ? 1 : 2;
  const cut = (i: number): number => Math.round(range.start + ((range.end - range.start) * i) / count);
  return Array.from({ length: count }, (_, i) => ({ start: cut(i), end: cut(i + 1) }));
}

/** The `machines` filter takes this many names (api-facts 2). */
const NAMES_PER_REQUEST = 20;

/** Names for one request, as the API spells them, and the time since which their records are missing. */
export interface Batch {
  readonly names: string[];
  readonly since: UnixSeconds;
}

/** The records of one push are at most this far apart. */
const PUSH_SECONDS = 2;

/**
 * Names to request after the time since `swept` was read: live machines that were not in it and whose record is older
 * than half of `staleMs`. A silent machine is not requested, because a sweep finds it when it is back. Machines that
 * were last seen together are requested together, so that no request reads known records again.
 */
export function namesToAsk(sweep: Sweep, swept: UnixSeconds, staleMs: Milliseconds, now: UnixMs): Batch[] {
  const isDue = (time: UnixSeconds): boolean => {
    const age = now - time * 1000;
    return time < swept && age > staleMs / 2 && age <= staleMs;
  };
  const absent: { name: string; seen: UnixSeconds }[] = [];
  for (const [label, machine] of sweep.machines) {
    // If a push is in these first seconds, the records of its other processes can be before them, and are not found.
    if (sweep.found.has(label) && lastSeen(machine) > swept + PUSH_SECONDS) continue;
    const seen = Math.min(...PROCESSES.flatMap((process) => machine[process]?.timestamp ?? []).filter(isDue));
    if (seen === Number.POSITIVE_INFINITY) continue;
    for (const name of rawNames(machine)) absent.push({ name, seen });
  }
  absent.sort((a, b) => a.seen - b.seen);
  const batches: Batch[] = [];
  for (let i = 0; i < absent.length; i += NAMES_PER_REQUEST) {
    const batch = absent.slice(i, i + NAMES_PER_REQUEST);
    batches.push({ names: batch.map(({ name }) => name), since: Math.floor(batch[0]?.seen ?? 0) + 1 });
  }
  return batches;
}

/** A label can stand for several spellings ("" and "unnamed"). */
function rawNames(machine: Machine): Set<string> {
  return new Set(PROCESSES.flatMap((process) => (machine[process] ? [machine[process].machine ?? ''] : [])));
}
