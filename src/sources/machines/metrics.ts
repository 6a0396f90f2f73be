import {
  type MachineRecord,
  type NodeRecord,
  PROCESSES,
  type Process,
  type ProcessRecord,
  type SystemRecord,
  type ValidatorRecord,
} from '../../api/answers/machines.ts';
import type { Chain } from '../../lib/chain.ts';
import { CLOCK_AHEAD_MS } from '../../lib/clock.ts';
import type { Milliseconds, UnixMs } from '../../lib/time.ts';
import { type Family, type FamilyHead, lazyFamily, type Sample } from '../../metrics/family.ts';
import type { Timing } from '../source.ts';
import { isNameShared, learn, learnAll, trusted } from './learned.ts';
import {
  chainOf,
  isChainKnown,
  isForgotten,
  isIncluded,
  type MachinesOptions,
  machineName,
  staleAfter,
} from './options.ts';
import { type Learned, lastSeen, type Machine, type Machines } from './schema.ts';

type FieldValue = number | boolean | null | undefined;

/** A family whose values are one field of a record. */
interface FieldFamily extends FamilyHead {
  /** If there are several, the process is a label. */
  readonly processes: readonly Process[];
  /** The sample's value; null and undefined give no sample. */
  value(record: ProcessRecord): FieldValue;
}

const POLLED =
  'Pushed by the client about once a minute and polled by the exporter; beaconchain_machine_last_seen_timestamp_seconds is the time of the newest record.';

const WITHHELD =
  'Withheld for ten minutes to an hour after a network counter fell without a reboot, because another container may have reported it';

type Field<R> = keyof R & string;

function family<R>(...processes: readonly Process[]) {
  return (name: string, field: Field<R>, help: string, absent?: (record: R) => FieldValue): FieldFamily => ({
    name: `beaconchain_machine_${name}`,
    type: name.endsWith('_total') ? 'counter' : 'gauge',
    help: `${help} (${field}). ${POLLED}`,
    processes,
    value(record) {
      const value = (record as unknown as Record<string, FieldValue>)[field];
      return value === undefined && absent ? absent(record as unknown as R) : value;
    },
  });
}

const system = family<SystemRecord>('system');
const validator = family<ValidatorRecord>('validator');
const node = family<NodeRecord>('node');
const both = family<ValidatorRecord & NodeRecord>('validator', 'node');

/** The API leaves zeros and false out (api-facts 1.1). So an absent field means 0 wherever 0 is a sensible value. */
const zero = (): FieldValue => 0;

/** Absent means 0 bytes free, as on a full disk. A record without the total says nothing about the disk. */
const zeroWhere =
  <R>(total: Field<R>) =>
  (record: R): FieldValue =>
    record[total] == null ? undefined : 0;

export const PROCESS_FIELDS: readonly FieldFamily[] = [
  system('cpu_cores', 'cpu_cores', 'Physical cores'),
  system('cpu_threads', 'cpu_threads', 'Logical CPUs'),
  system(
    'cpu_seconds_total',
    'cpu_node_system_seconds_total',
    'CPU time in all modes, including idle, despite the name of the field; Lodestar leaves out iowait, softirq and steal, Teku nice, irq, softirq and steal',
  ),
  system('cpu_user_seconds_total', 'cpu_node_user_seconds_total', 'CPU time in user mode'),
  system('cpu_iowait_seconds_total', 'cpu_node_iowait_seconds_total', 'CPU time waiting for I/O; Lodestar reports 0'),
  system('cpu_idle_seconds_total', 'cpu_node_idle_seconds_total', 'Idle CPU time'),
  system('memory_total_bytes', 'memory_node_bytes_total', 'RAM of the host, regardless of container limits'),
  system(
    'memory_free_bytes',
    'memory_node_bytes_free',
    'Free RAM; Teku reports available RAM here',
    zeroWhere('memory_node_bytes_total'),
  ),
  system('memory_cached_bytes', 'memory_node_bytes_cached', 'Page cache; Teku reports 0'),
  system('memory_buffers_bytes', 'memory_node_bytes_buffers', 'Buffers; Teku reports 0'),
  system(
    'disk_total_bytes',
    'disk_node_bytes_total',
    'Size of the file system at /; Teku reports that of its data directory, Grandine the sum of all mounted file systems',
  ),
  system(
    'disk_free_bytes',
    'disk_node_bytes_free',
    'Free space on the file system of beaconchain_machine_disk_total_bytes; Lodestar reports the space available to users',
    zeroWhere('disk_node_bytes_total'),
  ),
  system(
    'disk_io_seconds_total',
    'disk_node_io_seconds',
    'Time spent on disk I/O. Do not compare machines: the standalone pusher reports milliseconds of one disk, most clients report 0',
  ),
  system(
    'disk_reads_total',
    'disk_node_reads_total',
    'Completed read operations, not bytes; Teku and Grandine report 0',
  ),
  system(
    'disk_writes_total',
    'disk_node_writes_total',
    'Completed write operations, not bytes; Teku and Grandine report 0',
  ),
  system(
    'network_receive_bytes_total',
    'network_node_bytes_total_receive',
    `Bytes received on all interfaces; Lodestar reports only the first interface. ${WITHHELD}`,
  ),
  system(
    'network_transmit_bytes_total',
    'network_node_bytes_total_transmit',
    `Bytes sent on all interfaces; Lodestar reports only the first interface. ${WITHHELD}`,
  ),
  system(
    'boot_time_seconds',
    'misc_node_boot_ts_seconds',
    'Unix time of the last boot; Lodestar recomputes it, so it can vary by a second',
  ),
  both(
    'process_cpu_seconds_total',
    'cpu_process_seconds_total',
    'CPU time of the process since it started; Grandine reports its one process twice, so a sum counts it twice',
  ),
  both(
    'process_memory_bytes',
    'memory_process_bytes',
    'Resident memory; Teku reports the sum of its JVM memory pools, Grandine its one process twice',
  ),
  both(
    'consensus_fallback_configured',
    'sync_eth2_fallback_configured',
    'Whether a second beacon node is configured; only Lighthouse validator clients report it',
    zero,
  ),
  both(
    'consensus_fallback_connected',
    'sync_eth2_fallback_connected',
    'Whether the second beacon node is in use; only Lighthouse validator clients report it',
    zero,
  ),
  validator('validators', 'validator_total', 'Loaded validator keys', zero),
  validator(
    'validators_active',
    'validator_active',
    'Active validator keys; Lighthouse reports keys that are enabled locally, Teku and Grandine keys that are active on chain',
    zero,
  ),
  node(
    'beacon_database_bytes',
    'disk_beaconchain_bytes_total',
    'Size of the beacon chain database; Lighthouse reports only the hot database, Teku and Nimbus report 0',
  ),
  node(
    'libp2p_receive_bytes_total',
    'network_libp2p_bytes_total_receive',
    'Bytes received over libp2p; Prysm reports messages instead, Grandine only requests and responses, Teku, Nimbus and some Lighthouse versions 0',
  ),
  node(
    'libp2p_transmit_bytes_total',
    'network_libp2p_bytes_total_transmit',
    'Bytes sent over libp2p; Grandine reports only requests and responses, Teku, Nimbus, Prysm and some Lighthouse versions 0',
  ),
  node(
    'peers',
    'network_peers_connected',
    'Connected peers of the beacon node; Grandine reports 0 without --metrics',
    zero,
  ),
  node(
    'execution_connected',
    'sync_eth1_connected',
    'Whether the execution client is connected; only of a machine that reported 1 with its current client and version, because Teku 26.7.1, Lighthouse 7.1 and newer versions always report 0. Prysm and Nimbus always report 1, Lodestar if an execution URL is configured',
    zero,
  ),
  node('synced', 'sync_eth2_synced', 'Whether the beacon node is synced; Prysm and Nimbus always report 1', zero),
  node('head_slot', 'sync_beacon_head_slot', 'Head slot of the beacon node; can decrease in a reorganisation'),
  node(
    'execution_fallback_configured',
    'sync_eth1_fallback_configured',
    'Whether a second execution client is configured',
    zero,
  ),
  node(
    'execution_fallback_connected',
    'sync_eth1_fallback_connected',
    'Whether the second execution client is in use',
    zero,
  ),
];

/** Families that are not the value of one field. */
const FLEET = {
  lastSeen: {
    name: 'beaconchain_machine_last_seen_timestamp_seconds',
    type: 'gauge',
    help: "Unix time of the newest record, by the client's clock (timestamp); 0 for an expected machine that was never seen. Remains when stale values are withdrawn.",
  },
  info: {
    name: 'beaconchain_machine_info',
    type: 'gauge',
    help: `Operating system as reported by the client, and version of the standalone pusher (misc_os, exporter_version); always 1. ${POLLED}`,
  },
  clientInfo: {
    name: 'beaconchain_machine_client_info',
    type: 'gauge',
    help: `Client name, version and build (client_name, client_version, client_build, exporter_version); always 1; only Grandine reports a build, as the Unix time at which it was built. ${POLLED}`,
  },
  chainKnown: {
    name: 'beaconchain_machine_chain_known',
    type: 'gauge',
    help: "Whether the chain label is that of a rule or was found from two reports of the machine's own node; 0 if it is assumed, or if the node contradicts the configuration.",
  },
  nameShared: {
    name: 'beaconchain_machine_name_shared',
    type: 'gauge',
    help: 'Whether several hosts report under this name, because the boot time came back to an earlier value twice in a day. While it is 1, and for ten minutes after a boot time stepped back, counters of the system and the boot time are withheld. While it is 1, the fuller disk is shown.',
  },
  count: {
    name: 'beaconchain_machines',
    type: 'gauge',
    help: 'Machines seen within machines.forget_after, including expected machines.',
  },
  dropped: {
    name: 'beaconchain_machines_dropped',
    type: 'gauge',
    help: 'Machines that the last sweep dropped because of machines.max; normally 0.',
  },
} as const satisfies Record<string, FamilyHead>;

type MachineLabels = { readonly chain: Chain; readonly machine: string };

/** A machine as it is shown at one time. */
export interface Shown {
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

function shownOf(options: MachinesOptions, machine: Machine, timing: Timing): Shown {
  const { now } = timing;
  return {
    ...labelsOf(options, machine, now),
    seen: recordsUpTo(machine, options.forgetAfterMs, now),
    fresh: freshOf(options, trusted(machine, now), timing),
  };
}

/** The records of a machine that are not stale. */
function freshOf(options: MachinesOptions, machine: Machine, timing: Timing): Partial<Machine> {
  // A record further ahead is from before the clock was set back, so its age is unknown.
  return recordsUpTo(machine, shownFor(options, timing), timing.now, CLOCK_AHEAD_MS);
}

/** A machine at the time of one of its records, which is fresh then. */
function pastOf(options: MachinesOptions, machine: Machine): Shown {
  const at = lastSeen(machine) * 1000;
  return { ...labelsOf(options, machine, at), seen: machine, fresh: trusted(machine, at) };
}

function labelsOf(options: MachinesOptions, machine: Machine, now: UnixMs): Omit<Shown, 'seen' | 'fresh'> {
  const labels = { chain: chainOf(options, machine), machine: machine.name };
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

/** Every machine family, with the samples that are to be shown at `timing.now`. */
export function machineFamilies(options: MachinesOptions, { machines, dropped }: Machines, timing: Timing): Family[] {
  const shown = shownMachines(options, machines, timing);
  return [
    lazyFamily(FLEET.lastSeen, () => [...shown.flatMap(lastSeenSamples), ...neverSeen(options, shown)]),
    ...recordFamilies(false, shown),
    { ...FLEET.count, samples: countByChain(options, shown) },
    { ...FLEET.dropped, samples: [{ labels: {}, value: dropped }] },
  ];
}

/**
 * The families of past records of one machine, in ascending time. Each sample has the time of its record. Excludes
 * families about the whole fleet, which describe only the present. `known`: the facts learned from earlier records.
 */
export function pastMachineFamilies(
  options: MachinesOptions,
  records: readonly MachineRecord[],
  known: Learned = {},
): Family[] {
  const shown = pastMachines(records, known)
    .filter((machine) => isIncluded(options, machine.name))
    .map((machine) => pastOf(options, machine));
  return [
    lazyFamily(FLEET.lastSeen, () =>
      shown.flatMap(lastSeenSamples).map((sample): Sample => ({ ...sample, at: sample.value })),
    ),
    ...recordFamilies(true, shown),
  ];
}

/** The machine at the time of each record, from that record and those before it. Its chain is that of all records together. */
function pastMachines(records: readonly MachineRecord[], known: Learned): Machine[] {
  const { chain } = learnAll({ learned: known }, records);
  let held: Partial<Machine> = {};
  let learned = known;
  return records.map((one) => {
    const [process, record] = one;
    learned = learn(learned, held, one);
    held = { ...held, [process]: record };
    return { name: machineName(record.machine), [process]: record, learned: { ...learned, ...(chain && { chain }) } };
  });
}

/** The families whose samples each come from one record, and have its time if `isTimed`. */
function recordFamilies(isTimed: boolean, shown: readonly Shown[]): Family[] {
  return [
    lazyFamily(FLEET.info, () => shown.flatMap((machine) => systemInfo(isTimed, machine))),
    ...PROCESS_FIELDS.map((field) => lazyFamily(field, () => fieldSamples(isTimed, field, shown))),
    lazyFamily(FLEET.chainKnown, () => shown.flatMap((machine) => chainKnown(isTimed, machine))),
    lazyFamily(FLEET.nameShared, () => shown.flatMap((machine) => nameShared(isTimed, machine))),
    lazyFamily(FLEET.clientInfo, () => shown.flatMap((machine) => clientInfo(isTimed, machine))),
  ];
}

function fieldSamples(isTimed: boolean, field: FieldFamily, shown: readonly Shown[]): Sample[] {
  const samples: Sample[] = [];
  for (const machine of shown) {
    for (const process of field.processes) {
      const record = machine.fresh[process];
      const value = record && field.value(record);
      if (!record || value == null) continue;
      const labels = field.processes.length > 1 ? machine.processLabels[process] : machine.labels;
      samples.push({ labels, value: Number(value), ...timeOf(isTimed, record) });
    }
  }
  return samples;
}

function lastSeenSamples({ processLabels, seen }: Shown): Sample[] {
  return PROCESSES.flatMap((process) => {
    const record = seen[process];
    return record ? [{ labels: processLabels[process], value: record.timestamp }] : [];
  });
}

function neverSeen(options: MachinesOptions, shown: readonly Shown[]): Sample[] {
  return missing(options, shown).map((name) => ({
    labels: { chain: chainOf(options, { name }), machine: name, process: 'system' },
    value: 0,
  }));
}

function timeOf(isTimed: boolean, { timestamp }: { timestamp: number }): { at?: number } {
  return isTimed ? { at: timestamp } : {};
}

function systemInfo(isTimed: boolean, { labels, fresh }: Shown): Sample[] {
  const record = fresh.system;
  if (!record) return [];
  const system = { os: record.misc_os ?? '', exporter_version: record.exporter_version ?? '' };
  return [{ labels: { ...labels, ...system }, value: 1, ...timeOf(isTimed, record) }];
}

/** Accompanies a head slot, because its lag means nothing on an assumed chain. */
function chainKnown(isTimed: boolean, { labels, fresh: { node }, isChainKnown }: Shown): Sample[] {
  if (node?.sync_beacon_head_slot == null) return [];
  return [{ labels, value: Number(isChainKnown), ...timeOf(isTimed, node) }];
}

function nameShared(isTimed: boolean, { labels, fresh: { system }, isNameShared }: Shown): Sample[] {
  return system ? [{ labels, value: Number(isNameShared), ...timeOf(isTimed, system) }] : [];
}

function clientInfo(isTimed: boolean, { labels, fresh }: Shown): Sample[] {
  return (['validator', 'node'] as const).flatMap((process) => {
    const record = fresh[process];
    if (!record) return [];
    const client = {
      client_name: record.client_name ?? '',
      client_version: record.client_version ?? '',
      client_build: String(record.client_build ?? ''),
      exporter_version: record.exporter_version ?? '',
    };
    return [{ labels: { ...labels, process, ...client }, value: 1, ...timeOf(isTimed, record) }];
  });
}

function countByChain(options: MachinesOptions, shown: readonly Shown[]): Sample[] {
  const counts = new Map<string, number>(options.chains.map((chain) => [chain, 0]));
  const chains = [
    ...shown.map(({ labels }) => labels.chain),
    ...missing(options, shown).map((name) => chainOf(options, { name })),
  ];
  for (const chain of chains) counts.set(chain, (counts.get(chain) ?? 0) + 1);
  return [...counts].map(([chain, value]) => ({ labels: { chain }, value }));
}

/** When the next value is withdrawn or shown again, or the next record is forgotten or no longer too far ahead. */
export function nextMachineChange(options: MachinesOptions, { machines }: Machines, timing: Timing): UnixMs {
  const ages = [shownFor(options, timing), options.forgetAfterMs];
  let next = Number.POSITIVE_INFINITY;
  for (const machine of machines) {
    if (!isIncluded(options, machine.name)) continue;
    next = Math.min(next, ...countersShownAgainAt(options, machine, timing));
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

/** When withheld counters of a machine are shown again, if its record is fresh then. */
function countersShownAgainAt(options: MachinesOptions, machine: Machine, timing: Timing): UnixMs[] {
  const { boots, networkFell } = machine.learned ?? {};
  const all = boots?.until ?? 0;
  return [all, Math.max(all, networkFell?.until ?? 0)]
    .map((seconds) => Math.ceil(seconds * 1000))
    .filter((until) => until > timing.now && freshOf(options, machine, { ...timing, now: until }).system);
}
