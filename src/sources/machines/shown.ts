import type { Chain } from '../../lib/chain.ts';
import { CLOCK_AHEAD_MS } from '../../lib/clock.ts';
import { autoStaleAfter } from '../../lib/stale-after.ts';
import type { Milliseconds, UnixMs, UnixSeconds } from '../../lib/time.ts';
import type { Polls, Timing } from '../source.ts';
import { trusted } from './learned.ts';
import { chainOf, isChainKnown, isIncluded, type MachinesOptions } from './options.ts';
import { type Machine, type Machines, PROCESSES, type Process } from './schema.ts';

/** The age beyond which values are withdrawn. `auto` follows the effective interval, which a scarce budget stretches. */
export function staleAfter(options: MachinesOptions, timing: Timing): Milliseconds {
  if (options.staleAfterMs !== 'auto') return options.staleAfterMs;
  return autoStaleAfter(timing.intervalMs);
}

/** The times of the records of a machine. */
export function timesOf(records: Partial<Machine>): UnixSeconds[] {
  const times: UnixSeconds[] = [];
  for (const process of PROCESSES) {
    const record = records[process];
    if (record) times.push(record.timestamp);
  }
  return times;
}

/** The time of the newest record of any process; 0 without one. */
export function lastSeen(records: Partial<Machine>): UnixSeconds {
  let last = 0;
  for (const process of PROCESSES) last = Math.max(last, records[process]?.timestamp ?? 0);
  return last;
}

export function isForgotten(options: MachinesOptions, timestamp: UnixSeconds, now: UnixMs): boolean {
  return now - timestamp * 1000 > options.forgetAfterMs;
}

type MachineLabels = { readonly chain: Chain; readonly machine: string };

/** A machine as it is shown at one time. */
export interface Shown {
  readonly labels: MachineLabels;
  /** The same objects for all families, whose texts are then encoded once. */
  readonly processLabels: Readonly<Record<Process, MachineLabels & { readonly process: Process }>>;
  /** The records that are not forgotten. A process that the machine no longer runs disappears with its record. */
  readonly seen: Partial<Machine>;
  /** Those of them that are not stale, without values that say nothing (see `trusted`). */
  readonly fresh: Partial<Machine>;
  readonly isChainKnown: boolean;
}

function shownOf(options: MachinesOptions, machine: Machine, timing: Timing): Shown {
  const { now } = timing;
  return {
    ...labelsOf(options, machine),
    seen: recordsUpTo(machine, options.forgetAfterMs, now),
    fresh: freshOf(options, trusted(machine, now), timing),
  };
}

/** The records of a machine that are not stale. */
export function freshOf(options: MachinesOptions, machine: Machine, timing: Timing): Partial<Machine> {
  // A record further ahead is from before the clock was set back, so its age is unknown.
  return recordsUpTo(machine, shownFor(options, timing), timing.now, CLOCK_AHEAD_MS);
}

/** A machine at the time of one of its records, which is fresh then. */
export function pastOf(options: MachinesOptions, machine: Machine): Shown {
  return { ...labelsOf(options, machine), seen: machine, fresh: trusted(machine, lastSeen(machine) * 1000) };
}

function labelsOf(
  options: MachinesOptions,
  machine: Machine,
): Pick<Shown, 'labels' | 'processLabels' | 'isChainKnown'> {
  const labels = { chain: chainOf(options, machine), machine: machine.name };
  const of = <P extends Process>(process: P) => ({ ...labels, process });
  return {
    labels,
    processLabels: { system: of('system'), validator: of('validator'), node: of('node') },
    isChainKnown: isChainKnown(options, machine),
  };
}

/** How long values are shown: until they are stale or forgotten. */
export function shownFor(options: MachinesOptions, timing: Timing): Milliseconds {
  return Math.min(staleAfter(options, timing), options.forgetAfterMs);
}

/** Whether a record was shown at the last successful poll, and is too old now. */
export function isOutdated(
  { seen }: Shown,
  ageMs: Milliseconds,
  { now }: Timing,
  { lastSuccessAt = 0 }: Polls,
): boolean {
  return timesOf(seen).some((at) => {
    const endsAt = at * 1000 + ageMs;
    return lastSuccessAt <= endsAt && endsAt < now;
  });
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
export function missing(options: MachinesOptions, shown: readonly Shown[]): string[] {
  const seen = new Set(shown.map(({ labels }) => labels.machine));
  return [...new Set(options.expected)].filter((name) => !seen.has(name) && !options.exclude.includes(name));
}

/** The machines to be shown at `timing.now`, by name. */
export function shownMachines(options: MachinesOptions, machines: Machines['machines'], timing: Timing): Shown[] {
  return machines
    .filter((machine) => isShown(options, machine, timing))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((machine) => shownOf(options, machine, timing));
}

/** Whether a machine is shown at `timing.now`, with values or as silent. */
export function isShown(options: MachinesOptions, machine: Machine, { now }: Timing): boolean {
  return isIncluded(options, machine.name) && !isForgotten(options, lastSeen(machine), now);
}
