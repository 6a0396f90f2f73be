import type { MachineRecord, SystemRecord } from '../../api/answers/machines.ts';
import { MS_PER_HOUR, SECONDS_PER_DAY } from '../../toolkit/lib/duration.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import type { Boots, Learned, Machine } from './state.ts';

const [FELL, ROSE] = ['fell without a reboot', 'rose faster than the CPUs allow'];

/**
 * The sets of counters that one pusher reports together, and why a set is withheld. The service keeps one record of each process a
 * minute, but every client pushes a record of its host, and hosts or nodes can share a name: then pushers take turns.
 */
export const COUNTERS = {
  cpu: { process: 'system', fields: /^cpu_node_/, why: 'CPU jumped without a reboot' },
  disk: { process: 'system', fields: /^disk_node_(io|reads|writes)_/, why: `disk ${FELL}` },
  network: { process: 'system', fields: /^network_node_/, why: `network ${FELL}` },
  validator: { process: 'validator', fields: /^cpu_process_/, why: `validator process ${ROSE}` },
  node: { process: 'node', fields: /^(cpu_process|network_libp2p)_/, why: `node process ${ROSE}` },
} as const;

/** Lodestar recomputes its boot time for each record (api-facts 1.3). */
const SAME_BOOT_SECONDS = 5;
const WITHHELD_SECONDS = 600;
const HOUR_SECONDS = MS_PER_HOUR / 1000;
/** Clients cut counters to whole seconds, and read them a little before the clock. */
const UNEVEN_SECONDS = 2;
/** For a machine with an unknown number of threads, and more than any machine has. */
const [MOST_THREADS, MOST_OF_HOST] = [256, 1024];
/** Linux takes back seconds of idle and iowait time. */
const TAKEN_BACK = 10;
/** A pool changes its size by less in a minute. */
const SAME_DISK = 0.9;
/** Gauges that pushers of one host report differently. */
const GAUGES = /^(disk|memory)_node_bytes_/;

/** @param isFast Whether the machine's clock is fast, so that the time between two records is unknown */
export function learnFromCounters(machine: Machine, one: MachineRecord, isFast: boolean): Learned {
  const learned = withFallen(machine, one, isFast);
  return one[0] === 'system' && machine.system ? withBoots(learned, machine.system, one[1]) : learned;
}

/**
 * Notes the sets of counters that another pusher reported. Counters of a host fall only at a boot. CPU time of a process falls at each
 * start, so there only the way back from the second pusher shows it: CPU time rises faster than the CPUs allow.
 */
function withFallen(machine: Machine, [process, record]: MachineRecord, isFast: boolean): Learned {
  const { [process]: held, system, learned = {} } = machine;
  if (!held) return learned;
  const { timestamp: at } = record;
  // A container can report fewer threads than its CPU time covers.
  const threads = process === 'system' ? MOST_OF_HOST : system?.cpu_threads;
  const mostCpu = (isFast ? Infinity : at - held.timestamp + UNEVEN_SECONDS) * (threads || MOST_THREADS);
  const isOfAnother = (field: string): boolean => {
    const by = growth(held, record, field);
    if (field.startsWith('cpu_') && by > mostCpu) return true;
    return process === 'system' && by < -TAKEN_BACK;
  };
  if (hasBooted(held, record)) return learned;
  const fell = { ...learned.fell };
  for (const [set, { process: of, fields }] of Object.entries(COUNTERS)) {
    if (of !== process || !Object.keys(record).some((field) => fields.test(field) && isOfAnother(field))) continue;
    const isAgain = at - (fell[set]?.at ?? 0) <= HOUR_SECONDS;
    fell[set] = { at, until: at + (isAgain ? HOUR_SECONDS : WITHHELD_SECONDS) };
  }
  // Clients of one host can report the disks of their own data: then the size changes again and again.
  if (hasOtherDisk(held, record)) {
    const isAgain = at - (fell['size']?.at ?? 0) <= SECONDS_PER_DAY;
    fell['size'] = { at, until: isAgain ? at + SECONDS_PER_DAY : at };
  }
  return Object.keys(fell).length > 0 ? { ...learned, fell } : learned;
}

function hasOtherDisk(held: Partial<SystemRecord>, record: Partial<SystemRecord>): boolean {
  const [before, after] = [held.disk_node_bytes_total, record.disk_node_bytes_total];
  return !!before && !!after && Math.min(before, after) < SAME_DISK * Math.max(before, after);
}

/** These grow while a machine runs. */
const GROWING = ['cpu_node_system_seconds_total', 'cpu_process_seconds_total', 'sync_beacon_head_slot'];

/**
 * Whether the machine pushed this record before the held one. The service keeps records of a fast clock until their time has passed. Once
 * the clock is right, only their contents tell them from newer records, not their times.
 */
export function isBeforeHeld(machine: Machine | undefined, [process, record]: MachineRecord): boolean {
  const { [process]: held, learned } = machine ?? {};
  const { ahead, queued } = learned ?? {};
  const { timestamp: at } = record;
  if (!held || at > (queued?.[process] ?? 0)) return false;
  // Setting the clock right moves the boot time, too.
  if (ahead?.[process] !== undefined && hasBooted(held, record)) return false;
  const grown = GROWING.map((field) => growth(held, record, field));
  return at === ahead?.[process] || (grown.some((by) => by < 0) && !grown.some((by) => by > 0));
}

/** NaN if a value is missing, which costs only this counter. */
function growth(held: object, record: object, field: string): number {
  const [before, after] = [held, record].map((one) => (one as Record<string, number | null>)[field] ?? Number.NaN);
  return Number(after) - Number(before);
}

function hasBooted(held: object, record: object): boolean {
  return Math.abs(growth(held, record, 'misc_node_boot_ts_seconds')) > SAME_BOOT_SECONDS;
}

/** NTP and Lodestar move a boot time by seconds. */
const OTHER_BOOT_SECONDS = 60;

/**
 * A boot time steps back if another host uses the name, or on a board without a clock chip, which later steps forward to a new value. Only
 * two hosts return to the same value again and again.
 */
function bootsAfter(known: Boots | undefined, held: SystemRecord, record: SystemRecord): Boots | undefined {
  const [before, boot] = [held.misc_node_boot_ts_seconds, record.misc_node_boot_ts_seconds];
  // A reboot is later than the record before it.
  if (!before || !boot || Math.abs(boot - before) <= OTHER_BOOT_SECONDS || boot >= held.timestamp) return known;
  const { from = 0, returnedAt = 0, isShared = false, until = 0 } = known ?? {};
  const { timestamp: at } = record;
  const isBack = boot < before;
  const isReturn = !isBack && Math.abs(boot - from) <= SAME_BOOT_SECONDS;
  const isAgain = isReturn && at - returnedAt <= SECONDS_PER_DAY;
  const withheldSeconds = isBack || at >= until ? WITHHELD_SECONDS : 0;
  return {
    from: isBack ? before : from,
    returnedAt: isReturn ? at : returnedAt,
    isShared: isAgain || (isShared && at < until),
    until: Math.max(until, at + (isAgain ? SECONDS_PER_DAY : withheldSeconds)),
  };
}

/** While pushers take turns, also notes whose gauges to show. Pushers of 60 and 62 s take turns of half an hour. */
function withBoots({ fuller, ...before }: Learned, held: SystemRecord, record: SystemRecord): Learned {
  const boots = bootsAfter(before.boots, held, record);
  const learned = { ...before, ...(boots && { boots }) };
  const { timestamp: at } = record;
  const hasTurns = ['size', ...Object.keys(COUNTERS)].some((set) => hasFallen(set, { learned }, at * 1000));
  if (!hasTurns && !bootsAt({ learned }, at * 1000)) return learned;
  const known = fuller ?? held;
  return { ...learned, fuller: at - known.timestamp <= HOUR_SECONDS && isFuller(known, record) ? known : record };
}

/** Of two hosts, prefers the fuller disk. Of one host, the more complete record, or the larger disk. */
function isFuller(known: SystemRecord, record: SystemRecord): boolean {
  const rank = ({ disk_node_bytes_free: free, disk_node_bytes_total: size, ...one }: SystemRecord): number => {
    if (hasBooted(known, record)) return free != null && size ? -free / size : -1;
    return Object.values(one).filter((value) => typeof value === 'number' && value > 0).length + (size ?? 0) / 1e19;
  };
  return rank(known) > rank(record);
}

export function hasFallen(set: string, { learned }: Partial<Machine>, now: UnixMs): boolean {
  return now < (learned?.fell?.[set]?.until ?? 0) * 1000;
}

/** The boot times of a machine, if they make us withhold its counters at `now`. */
function bootsAt({ learned }: Partial<Machine>, now: UnixMs): Boots | undefined {
  return learned?.boots && now < learned.boots.until * 1000 ? learned.boots : undefined;
}

export function isNameShared(machine: Partial<Machine>, now: UnixMs): boolean {
  return bootsAt(machine, now)?.isShared ?? false;
}

/** The machine with null for counters of several pushers, and with the gauges of one pusher. */
export function ofOnePusher(machine: Machine, now: UnixMs): Machine {
  const boots = bootsAt(machine, now);
  // Of thousands of machines, hardly any has several pushers.
  if (!boots && !machine.learned?.fell) return machine;
  const after: Machine = { ...machine };
  for (const [set, { process, fields }] of Object.entries(COUNTERS)) {
    const isWithheld = (boots && (boots.isShared || process === 'system')) || hasFallen(set, machine, now);
    const { [process]: record } = after;
    if (record && isWithheld) Object.assign(after, { [process]: { ...record, ...mapped(record, fields, () => null) } });
  }
  const { system, learned } = after;
  if (!system || (system === machine.system && !hasFallen('size', machine, now))) return after;
  // After a single step back, the other record can be of the same host before its clock was set.
  const gauges = boots && !boots.isShared ? {} : mapped(learned?.fuller ?? {}, GAUGES, (value) => value);
  return { ...after, system: { ...system, ...gauges, ...(boots && { misc_node_boot_ts_seconds: null }) } };
}

function mapped(record: object, fields: RegExp, to: (value: unknown) => unknown): object {
  const entries = Object.entries(record).filter(([name]) => fields.test(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, to(value)]));
}
