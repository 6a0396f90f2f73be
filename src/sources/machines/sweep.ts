import {
  isAdmitted,
  isForgotten,
  lastSeen,
  type MachinesOptions,
  machineName,
  PROCESSES,
  RECORDS_PER_PAGE,
} from './options.ts';
import type { Machine, Machines, Process } from './schema.ts';

/** What a sweep has gathered so far, on top of what was known. */
export interface Sweep {
  readonly machines: Map<string, Machine>;
  /** Names with a record in this sweep. */
  readonly found: Set<string>;
  readonly dropped: Set<string>;
  /** Names that may go when there are too many, the longest unseen last. */
  readonly expendable: string[];
  /** Records of each process so far. */
  readonly records: Record<Process, number>;
  lookback: Machines['lookback'];
  reach: Machines['reach'];
}

/** @param staleMs Age from which a machine counts as silent. */
export function startSweep(options: MachinesOptions, previous: Machines, now: number, staleMs: number): Sweep {
  const known = previous.machines.filter(
    (machine) => isAdmitted(options, machine.name) && !isForgotten(options, lastSeen(machine), now),
  );
  const isExpected = ({ name }: Machine): boolean => options.expected.includes(name);
  const byWorth = known.toSorted((a, b) => Number(isExpected(b)) - Number(isExpected(a)) || lastSeen(b) - lastSeen(a));
  const dropped = new Set(byWorth.slice(options.max).map(({ name }) => name));
  const isSilent = (machine: Machine): boolean => now - lastSeen(machine) * 1000 > staleMs;
  return {
    machines: new Map(known.filter(({ name }) => !dropped.has(name)).map((machine) => [machine.name, machine])),
    dropped,
    expendable: byWorth
      .slice(0, options.max)
      .filter((machine) => isSilent(machine) && !isExpected(machine))
      .map(({ name }) => name),
    found: new Set(),
    records: { system: 0, validator: 0, node: 0 },
    lookback: previous.lookback,
    reach: previous.reach,
  };
}

/** Takes a record in. An older one, or a second one of the same time, never replaces what is held. */
export function take<P extends Process>(
  sweep: Sweep,
  options: MachinesOptions,
  process: P,
  record: NonNullable<Machine[P]>,
): void {
  sweep.records[process] += 1;
  const name = machineName(record.machine);
  if (!isAdmitted(options, name)) return;
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
  const held = machine[process];
  if (held && held.timestamp >= record.timestamp) return;
  sweep.machines.set(name, { ...machine, [process]: record });
}

/** Lets the machine go that has been silent for longest; false where none is silent. */
function makeRoom({ machines, found, dropped, expendable }: Sweep): boolean {
  for (let name = expendable.pop(); name !== undefined; name = expendable.pop()) {
    if (found.has(name)) continue;
    machines.delete(name);
    dropped.add(name);
    return true;
  }
  return false;
}

export function endSweep({ machines, dropped, lookback, reach }: Sweep): Machines {
  return {
    machines: [...machines.values()],
    dropped: dropped.size,
    ...(lookback ? { lookback } : {}),
    ...(reach ? { reach } : {}),
  };
}

const SECONDS_PER_PUSH = 60;
/** From so many pages on a sweep is cut in two: that hides 300 ms at 5 requests a second. */
export const PAGES_TO_CUT = 50;

/**
 * Cuts a range so that a large fleet is read in several sequences at once. Neighbours share a second, because whether the
 * service counts a record of half past a second to that second is not documented: each cut costs a 60th of the fleet.
 */
export function slices(range: { start: number; end: number }, machines: number): { start: number; end: number }[] {
  const pages = (machines * (range.end - range.start)) / SECONDS_PER_PUSH / RECORDS_PER_PAGE;
  const count = pages < PAGES_TO_CUT ? 1 : 2;
  const cut = (i: number): number => Math.round(range.start + ((range.end - range.start) * i) / count);
  return Array.from({ length: count }, (_, i) => ({ start: cut(i), end: cut(i + 1) }));
}

/** The `machines` filter takes this many names (api-facts 2). */
const NAMES_PER_REQUEST = 20;

/** Names for one request, as the API spells them, and since when (Unix seconds) nothing is known of them. */
export interface Batch {
  readonly names: string[];
  readonly since: number;
}

/**
 * Names to ask for after the last minute was read: of live machines that were not in it and whose held record is older
 * than half of `staleMs`. A silent machine is not asked for: it is found by the sweep when it is back. Machines that were
 * last seen together are asked for together, so that no request reads again what is held.
 */
export function namesToAsk(sweep: Sweep, staleMs: number, now: number): Batch[] {
  const absent: { name: string; seen: number }[] = [];
  for (const [label, machine] of sweep.machines) {
    if (sweep.found.has(label)) continue;
    const seen = lastSeen(machine);
    const age = now - seen * 1000;
    if (age <= staleMs / 2 || age > staleMs) continue;
    for (const name of rawNames(machine)) absent.push({ name, seen });
  }
  absent.sort((a, b) => a.seen - b.seen);
  return batches(absent, NAMES_PER_REQUEST).map((batch) => ({
    names: batch.map(({ name }) => name),
    since: Math.floor(batch[0]?.seen ?? 0) + 1,
  }));
}

/** A label can stand for several spellings ("" and "unnamed"). */
function rawNames(machine: Machine): Set<string> {
  return new Set(PROCESSES.flatMap((process) => (machine[process] ? [machine[process].machine ?? ''] : [])));
}

function batches<T>(items: readonly T[], size: number): T[][] {
  const result: T[][] = [];
  for (let i = 0; i < items.length; i += size) result.push(items.slice(i, i + size));
  return result;
}
