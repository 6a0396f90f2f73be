import { type MachineRecord, PROCESSES, type Process } from '../../api/answers/machines.ts';
import type { Chain } from '../../facts/chain.ts';
import { groupLabel } from '../../facts/groups.ts';
import { CLOCK_AHEAD_MS } from '../../toolkit/lib/clock.ts';
import { HELD_FOR_MS } from '../../toolkit/lib/held-time.ts';
import type { Milliseconds, UnixMs } from '../../toolkit/lib/time.ts';
import type { Timing } from '../read.ts';
import { staleAfter } from './config.ts';
import { isNameShared } from './counters.ts';
import { afterRecord, trusted } from './learned.ts';
import { chainOf, groupOf, isChainKnown, isIncluded, isKept, type MachinesOptions } from './options.ts';
import type { Machine, Machines } from './state.ts';

type MachineLabels = { readonly chain: Chain; readonly machine: string; readonly group?: string };

export interface ShownMachine {
  readonly labels: MachineLabels;
  /** Shared by all families, so that the texts are encoded once. */
  readonly processLabels: Readonly<Record<Process, MachineLabels & { readonly process: Process }>>;
  /** The records within `forget_after`. A process that no longer runs disappears with its record. */
  readonly seen: Partial<Machine>;
  /** Records that are not stale, without meaningless values (`trusted`). */
  readonly fresh: Partial<Machine>;
  readonly isChainKnown: boolean;
  readonly isNameShared: boolean;
  /** When to compute this again. */
  readonly until?: UnixMs;
}

function labelsOf(options: MachinesOptions, machine: Machine, now: UnixMs) {
  const { name } = machine;
  const labels = { chain: chainOf(options, machine), machine: name, ...groupLabel(groupOf(options, name)) };
  const of = <P extends Process>(process: P) => ({ ...labels, process });
  return {
    labels,
    processLabels: { system: of('system'), validator: of('validator'), node: of('node') },
    isChainKnown: isChainKnown(options, machine),
    isNameShared: isNameShared(machine, now),
  };
}

function recordsOf(machine: Machine, now: UnixMs, fits: (ageMs: Milliseconds) => boolean): Partial<Machine> {
  const records: Partial<Machine> = machine.learned ? { learned: machine.learned } : {};
  for (const process of PROCESSES) {
    const record = machine[process];
    if (record && fits(now - record.timestamp * 1000)) (records as Record<Process, object>)[process] = record;
  }
  return records;
}

/** When a record next becomes too old, or is no longer too far ahead. Withheld counters wait for a sweep. */
function nextChange(machine: Machine, ages: readonly Milliseconds[], now: UnixMs): UnixMs {
  const changes = PROCESSES.flatMap((process) => {
    const at = (machine[process]?.timestamp ?? Number.NaN) * 1000;
    // The first ms not too far ahead, and the first beyond each age.
    return [Math.ceil(at - CLOCK_AHEAD_MS), ...ages.map((ageMs) => Math.floor(at + ageMs) + 1)];
  });
  return Math.min(...changes.filter((change) => change > now));
}

/** The machines to show at `timing.now`, with values or as silent, by name. Then expected machines that were never seen. */
export function shownMachines(options: MachinesOptions, { machines }: Machines, timing: Timing): ShownMachine[] {
  const { now, held } = timing;
  const { expected, exclude, forgetAfterMs } = options;
  const freshMs = Math.min(staleAfter(options, timing), forgetAfterMs);
  const kept = machines
    .filter((machine) => isKept(options, machine, timing))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const neverSeen = new Set(expected).difference(new Set([...exclude, ...kept.map(({ name }) => name)]));
  return [
    ...kept.map((machine) => ({
      ...labelsOf(options, machine, now),
      seen: recordsOf(machine, held, (ageMs) => ageMs <= forgetAfterMs),
      // A record further ahead was read before the clock was set back, so its age is unknown.
      fresh: recordsOf(trusted(machine, now), now, (ageMs) => ageMs <= freshMs && ageMs >= -CLOCK_AHEAD_MS),
      until: nextChange(machine, [freshMs, forgetAfterMs + HELD_FOR_MS], now),
    })),
    ...[...neverSeen].map((name) => ({ ...labelsOf(options, { name }, now), seen: {}, fresh: {} })),
  ];
}

/**
 * The machine at the time of each of its records, ascending, with only that record. `before`: the machine before them. `chain`: as all
 * records together show it.
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
