import { type MachineRecord, PROCESSES, type Process } from '../../api/answers/machines.ts';
import type { Chain } from '../../facts/chain.ts';
import { groupLabel } from '../../facts/groups.ts';
import { CLOCK_AHEAD_MS } from '../../toolkit/lib/clock.ts';
import type { Milliseconds, UnixMs } from '../../toolkit/lib/time.ts';
import type { Timing } from '../source.ts';
import { afterRecord, isNameShared, trusted } from './learned.ts';
import { chainOf, groupOf, isChainKnown, isIncluded, isKept, type MachinesOptions, staleAfter } from './options.ts';
import type { Machine, Machines } from './schema.ts';

type MachineLabels = { readonly chain: Chain; readonly machine: string; readonly group?: string };

export function labelsOfMachine(options: MachinesOptions, machine: Pick<Machine, 'name' | 'learned'>): MachineLabels {
  const { name } = machine;
  return { chain: chainOf(options, machine), machine: name, ...groupLabel(groupOf(options, name)) };
}

export interface ShownMachine {
  readonly labels: MachineLabels;
  /** The same objects for all families, whose texts are then encoded once. */
  readonly processLabels: Readonly<Record<Process, MachineLabels & { readonly process: Process }>>;
  /** The records that are not forgotten. A process that the machine no longer runs disappears with its record. */
  readonly seen: Partial<Machine>;
  /** Those of them that are not stale, without meaningless values (see `trusted`). */
  readonly fresh: Partial<Machine>;
  readonly isChainKnown: boolean;
  readonly isNameShared: boolean;
}

function labelsOf(options: MachinesOptions, machine: Machine, now: UnixMs): Omit<ShownMachine, 'seen' | 'fresh'> {
  const labels = labelsOfMachine(options, machine);
  const of = <P extends Process>(process: P) => ({ ...labels, process });
  return {
    labels,
    processLabels: { system: of('system'), validator: of('validator'), node: of('node') },
    isChainKnown: isChainKnown(options, machine),
    isNameShared: isNameShared(machine, now),
  };
}

/** How long values are shown: until they are stale or forgotten. */
function shownFor(options: MachinesOptions, timing: Timing): Milliseconds {
  return Math.min(staleAfter(options, timing), options.forgetAfterMs);
}

function recordsUpTo(
  machine: Machine,
  ageMs: Milliseconds,
  now: UnixMs,
  aheadMs: Milliseconds = Number.POSITIVE_INFINITY,
): Partial<Machine> {
  const records: Partial<Machine> = {};
  for (const process of PROCESSES) {
    const record = machine[process];
    const age = now - (record?.timestamp ?? 0) * 1000;
    if (record && age <= ageMs && age >= -aheadMs) Object.assign(records, { [process]: record });
  }
  return records;
}

/** Expected machines that are not among those shown. */
export function missing(options: MachinesOptions, shown: readonly ShownMachine[]): string[] {
  const seen = new Set(shown.map(({ labels }) => labels.machine));
  return [...new Set(options.expected)].filter((name) => !seen.has(name) && !options.exclude.includes(name));
}

/** The machines to be shown at `timing.now`, with values or as silent, by name. */
export function shownMachines(
  options: MachinesOptions,
  machines: Machines['machines'],
  timing: Timing,
): ShownMachine[] {
  const { now } = timing;
  return machines
    .filter((machine) => isKept(options, machine, now))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((machine) => ({
      ...labelsOf(options, machine, now),
      seen: recordsUpTo(machine, options.forgetAfterMs, now),
      // A record further ahead is from before the clock was set back, so its age is unknown.
      fresh: recordsUpTo(trusted(machine, now), shownFor(options, timing), now, CLOCK_AHEAD_MS),
    }));
}

/**
 * The machine at the time of each of its records, in ascending time, with that record alone. `before`: the machine before
 * them. `chain`: the one that follows from all records together.
 */
export function pastMachines(
  options: MachinesOptions,
  records: readonly MachineRecord[],
  before: Machine,
  chain: Chain | undefined,
): ShownMachine[] {
  const { name } = before;
  if (!isIncluded(options, name)) return [];
  let machine = before;
  return records.map((one) => {
    const [process, record] = one;
    machine = afterRecord(machine, one);
    const own = { name, [process]: record, learned: { ...machine.learned, ...(chain && { chain }) } };
    const at = record.timestamp * 1000;
    return { ...labelsOf(options, own, at), seen: own, fresh: trusted(own, at) };
  });
}

/** When next a value is withdrawn, a record forgotten or no longer too far ahead. Withheld counters wait for a poll. */
export function nextMachineChange(options: MachinesOptions, { machines }: Machines, timing: Timing): UnixMs {
  const ages = [shownFor(options, timing), options.forgetAfterMs];
  let next = Number.POSITIVE_INFINITY;
  for (const machine of machines) {
    if (!isIncluded(options, machine.name)) continue;
    for (const process of PROCESSES) {
      const record = machine[process];
      if (!record) continue;
      const at = record.timestamp * 1000;
      // The first ms at which it is no longer too far ahead, and the first beyond each age.
      for (const change of [Math.ceil(at - CLOCK_AHEAD_MS), ...ages.map((ageMs) => Math.floor(at + ageMs) + 1)]) {
        if (change > timing.now) next = Math.min(next, change);
      }
    }
  }
  return next;
}
