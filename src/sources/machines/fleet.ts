import type { MachineRecord } from '../../api/answers/machines.ts';
import { MS_PER_MINUTE } from '../../toolkit/lib/duration.ts';
import { elapsed, type Milliseconds, type UnixMs } from '../../toolkit/lib/time.ts';
import type { SourceEvent, Timing } from '../read.ts';
import { offlineAfter } from './conditions.ts';
import { staleAfter } from './config.ts';
import { warning } from './events.ts';
import { afterRecords, isNameShared, isNetworkWithheld } from './learned.ts';
import { isIncluded, isKept, type MachinesOptions, machineName } from './options.ts';
import { RECORDS_KEPT_SECONDS } from './pages.ts';
import { lastSeen, type Machine, type Machines } from './state.ts';

/** Records come up to this late, so a machine that has just become silent may already be back. */
const LATEST_MS = 8 * MS_PER_MINUTE;

/** The age from which a machine counts as silent. */
export function silentAfter(options: MachinesOptions, timing: Timing): Milliseconds {
  return Math.min(staleAfter(options, timing), offlineAfter(timing) * 1000);
}

/** The machines that were live when the last complete sweep began. */
export function liveOf(options: MachinesOptions, { machines, beganAt }: Machines, timing: Timing): Machine[] {
  // The time of an outage, or of a stop of the program, is not the silence of a machine.
  const knownAt = Math.min(timing.now, (beganAt ?? Number.POSITIVE_INFINITY) * 1000);
  const since = knownAt - silentAfter(options, timing) - LATEST_MS;
  return machines.filter((machine) => lastSeen(machine) * 1000 >= since && isKept(options, machine, timing));
}

/**
 * The value after more records, in any order. If there are more than `max` machines, it drops unexpected ones first, then
 * silent ones, then those unseen for longest.
 */
export function withRecords(
  options: MachinesOptions,
  before: Machines,
  records: readonly MachineRecord[],
  timing: Timing,
): Machines {
  const { now } = timing;
  const { expected, max } = options;
  const held = new Map(before.machines.flatMap((one) => (isKept(options, one, timing) ? [[one.name, one]] : [])));
  const recordsOf = Map.groupBy(records, ([, { machine }]) => machineName(machine));
  const names = new Set([...held.keys(), ...recordsOf.keys().filter((name) => isIncluded(options, name))]);
  const live = new Set(liveOf(options, before, timing).map(({ name }) => name));
  // Rank and age are computed once for each machine, because a sort compares it with a dozen others.
  const ranked = [...names].map((name) => {
    const machine = withNewer(held.get(name) ?? { name }, recordsOf.get(name));
    return { machine, rank: expected.includes(name) ? 2 : Number(live.has(name)), seen: lastSeen(machine) };
  });
  const kept = ranked.sort((a, b) => b.rank - a.rank || b.seen - a.seen).slice(0, max);
  const asked = (before.asked ?? []).filter(
    ([name, at]) => !names.has(machineName(name)) && (at === 0 || elapsed(at, now) < RECORDS_KEPT_SECONDS * 1000),
  );
  return { ...before, machines: kept.map(({ machine }) => machine), dropped: names.size - kept.length, asked };
}

/** The machine after the records that are newer than its own. */
function withNewer(machine: Machine, records: readonly MachineRecord[] = []): Machine {
  const newer = records.filter(([process, { timestamp }]) => timestamp > (machine[process]?.timestamp ?? 0));
  return afterRecords(machine, newer);
}

/** Notes the names, as the API spells them, of unknown machines that are included. @param room How many at most */
export function withUnknown(options: MachinesOptions, value: Machines, names: string[], room = Infinity): Machines {
  const { machines, asked = [] } = value;
  const known = new Set(machines.map(({ name }) => name));
  const isOpen = (name: string): boolean => isIncluded(options, machineName(name)) && !known.has(machineName(name));
  const open = new Set(names.filter(isOpen).slice(0, room));
  const noted = [...open].map((name): [name: string, at: UnixMs] => [name, 0]);
  return { ...value, asked: [...asked.filter(([name]) => !open.has(name)), ...noted] };
}

/** What is odd about the machines now, and was not before. */
export function warningsOf(before: Machines, after: Machines, { now }: Timing): SourceEvent[] {
  const newly = (reason: 'network_counters_fell' | 'name_shared', applies: typeof isNameShared): SourceEvent[] => {
    const old = new Set(before.machines.flatMap((one) => (applies(one, now) ? [one.name] : [])));
    const names = after.machines.flatMap((one) => (applies(one, now) && !old.has(one.name) ? [one.name] : []));
    return names.length > 0 ? [warning(reason, names)] : [];
  };
  return [
    ...newly('network_counters_fell', isNetworkWithheld),
    ...newly('name_shared', isNameShared),
    ...(after.dropped > 0 && before.dropped === 0 ? [warning('too_many_machines')] : []),
  ];
}
