import { isAdmitted, isForgotten, lastSeen, type MachinesOptions, machineName, PROCESSES } from './options.ts';
import type { Machine, Machines, Process } from './schema.ts';

/** What a sweep has gathered so far, on top of what was known. */
export interface Sweep {
  readonly machines: Map<string, Machine>;
  /** Names with a record in this sweep. */
  readonly found: Set<string>;
  readonly dropped: Set<string>;
}

export function startSweep(options: MachinesOptions, previous: Machines, now: number): Sweep {
  const known = previous.machines.filter(
    (machine) => isAdmitted(options, machine.name) && !isForgotten(options, lastSeen(machine), now),
  );
  return { machines: new Map(known.map((machine) => [machine.name, machine])), found: new Set(), dropped: new Set() };
}

/** Takes a record in. An older one, or a second one of the same time, never replaces what is held. */
export function take<P extends Process>(
  sweep: Sweep,
  options: MachinesOptions,
  process: P,
  record: NonNullable<Machine[P]>,
): void {
  const name = machineName(record.machine);
  if (!isAdmitted(options, name)) return;
  let machine = sweep.machines.get(name);
  if (!machine) {
    if (sweep.machines.size >= options.max) {
      sweep.dropped.add(name);
      return;
    }
    machine = { name };
  }
  sweep.found.add(name);
  const held = machine[process];
  if (held && held.timestamp >= record.timestamp) return;
  sweep.machines.set(name, { ...machine, [process]: record });
}

export function endSweep(sweep: Sweep): Machines {
  return { machines: [...sweep.machines.values()], dropped: sweep.dropped.size };
}

/** The `machines` filter takes this many names (spec 8). */
export const NAMES_PER_REQUEST = 20;

/**
 * Names to ask for after the last minute was read: of live machines that were not in it and whose held record is older
 * than half of `staleMs`. A silent machine is not asked for: it is found by the sweep when it is back. As the API spells
 * them, in batches of one request.
 */
export function namesToAsk(sweep: Sweep, staleMs: number, now: number): string[][] {
  const names: string[] = [];
  for (const [name, machine] of sweep.machines) {
    if (sweep.found.has(name)) continue;
    const age = now - lastSeen(machine) * 1000;
    if (age > staleMs / 2 && age <= staleMs) names.push(...rawNames(machine));
  }
  return batches(names, NAMES_PER_REQUEST);
}

/** A label can stand for several spellings ("" and "unnamed"). */
function rawNames(machine: Machine): Set<string> {
  return new Set(PROCESSES.flatMap((process) => (machine[process] ? [machine[process].machine ?? ''] : [])));
}

export function batches<T>(items: readonly T[], size: number): T[][] {
  const result: T[][] = [];
  for (let i = 0; i < items.length; i += size) result.push(items.slice(i, i + size));
  return result;
}
