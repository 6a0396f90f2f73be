import type { MachineRecord } from '../../api/answers/machines.ts';
import type { Pause } from '../../toolkit/lib/clock.ts';
import { MS_PER_MINUTE } from '../../toolkit/lib/duration.ts';
import { elapsed, type Milliseconds, type UnixMs, type UnixSeconds } from '../../toolkit/lib/time.ts';
import type { SourceEvent, Timing } from '../read.ts';
import { offlineAfter } from './conditions.ts';
import { staleAfter } from './config.ts';
import { COUNTERS, hasFallen, isBeforeHeld, isNameShared } from './counters.ts';
import { type EVENTS, warning } from './events.ts';
import { afterRecords, isOfFastClock, secondsAhead } from './learned.ts';
import { isIncluded, isKept, type MachinesOptions, machineName } from './options.ts';
import { RECORDS_KEPT_SECONDS } from './pages.ts';
import { lastSeen, type Machine, type Machines } from './state.ts';

/** Records come up to this late, so a newly silent machine may already be back. */
const LATEST_MS = 8 * MS_PER_MINUTE;

/** The age of a record from which its machine counts as silent. */
export function silentAfter(options: MachinesOptions, timing: Timing): Milliseconds {
  return Math.min(staleAfter(options, timing), offlineAfter(timing) * 1000);
}

/** The machines that were live at the start of the last complete sweep, if records come `latestMs` late. */
export function liveOf(options: MachinesOptions, state: Machines, timing: Timing, latestMs = LATEST_MS): Machine[] {
  const { machines, beganAt } = state;
  // An outage or a stop of the program is no silence of a machine.
  const knownAt = Math.min(timing.now, (beganAt ?? Number.POSITIVE_INFINITY) * 1000);
  const since = knownAt - silentAfter(options, timing) - latestMs;
  return machines.filter((machine) => lastSeen(machine) * 1000 >= since && isKept(options, machine, timing));
}

/**
 * The value after more records, in any order. It takes a tenth of a second for thousands of machines, with pauses. If there are more than `max` machines, it drops unexpected ones first, then
 * silent ones, then those unseen for longest.
 */
export async function withRecords(
  options: MachinesOptions,
  before: Machines,
  records: readonly MachineRecord[],
  timing: Timing,
  pause: Pause = () => undefined,
): Promise<Machines> {
  const { now } = timing;
  const { expected, max } = options;
  const held = new Map(before.machines.flatMap((one) => (isKept(options, one, timing) ? [[one.name, one]] : [])));
  const recordsOf = Map.groupBy(records, ([, { machine }]) => machineName(machine));
  const names = new Set([...held.keys(), ...recordsOf.keys().filter((name) => isIncluded(options, name))]);
  const live = new Set(liveOf(options, before, timing, 0).map(({ name }) => name));
  // Rank and age are computed once for each machine, because a sort compares it with a dozen others.
  const ranked: { machine: Machine; rank: number; seen: UnixSeconds }[] = [];
  for (const name of names) {
    const machine = withNewer(held.get(name) ?? { name }, now, recordsOf.get(name));
    ranked.push({ machine, rank: expected.includes(name) ? 2 : Number(live.has(name)), seen: lastSeen(machine) });
    await pause();
  }
  const kept = ranked.sort((a, b) => b.rank - a.rank || b.seen - a.seen).slice(0, max);
  const asked = (before.asked ?? []).filter(
    ([name, at]) => !names.has(machineName(name)) && (at === 0 || elapsed(at, now) < RECORDS_KEPT_SECONDS * 1000),
  );
  return { ...before, machines: kept.map(({ machine }) => machine), dropped: names.size - kept.length, asked };
}

/** The machine after the records that are newer than its own. */
function withNewer(machine: Machine, now: UnixMs, records: readonly MachineRecord[] = []): Machine {
  const newer = records.filter((one) => {
    const isLater = isOfFastClock(machine, one, now) || one[1].timestamp > (machine[one[0]]?.timestamp ?? 0);
    return isLater && !isBeforeHeld(machine, one);
  });
  return afterRecords(machine, newer, now);
}

/** Notes the names of unknown machines that are included, as the API spells them. @param room At most so many */
export function withUnknown(options: MachinesOptions, value: Machines, names: string[], room = Infinity): Machines {
  const { machines, asked = [] } = value;
  const known = new Set(machines.map(({ name }) => name));
  const isOpen = (name: string): boolean => isIncluded(options, machineName(name)) && !known.has(machineName(name));
  const open = new Set(names.filter(isOpen).slice(0, room));
  const noted = [...open].map((name): [name: string, at: UnixMs] => [name, 0]);
  return { ...value, asked: [...asked.filter(([name]) => !open.has(name)), ...noted] };
}

/** New oddities of the machines. */
export function warningsOf(before: Machines, after: Machines, { now }: Timing): SourceEvent[] {
  const newly = (reason: keyof typeof EVENTS, whyOf: (one: Machine) => string | false): SourceEvent[] => {
    const odd = after.machines.filter(whyOf);
    // Of thousands, hardly any is odd.
    if (odd.length === 0) return [];
    const old = new Set(before.machines.filter(whyOf).map(({ name }) => name));
    const found = odd.filter(({ name }) => !old.has(name));
    const names = found.map(({ name }) => name);
    return names.length > 0 ? [{ ...warning(reason, names), why: found.map(whyOf) }] : [];
  };
  return [
    ...Object.entries(COUNTERS).flatMap(([set, { why }]) =>
      newly('counters_withheld', (one) => hasFallen(set, one, now) && why),
    ),
    ...newly('name_shared', (one) => isNameShared(one, now) && 'boot times alternate'),
    ...newly('clock_fast', (one) => secondsAhead(one) > 0 && `by ${secondsAhead(one)} s`),
    ...(after.dropped > 0 && before.dropped === 0 ? [warning('too_many_machines')] : []),
  ];
}
