import {
  type NodeRecord,
  PROCESSES,
  type Process,
  type SystemRecord,
  type ValidatorRecord,
} from '../../api/answers/machines.ts';
import { type Family, type FamilyHead, lazyFamily, type Sample } from '../../toolkit/exposition/family.ts';
import { family } from '../families.ts';
import type { Timing } from '../read.ts';
import { secondsAhead } from './learned.ts';
import type { MachinesOptions } from './options.ts';
import { type ShownMachine, shownMachines } from './shown.ts';
import { lastSeen, type Machines } from './state.ts';

interface MachineFamily extends FamilyHead {
  readonly samplesOf: (machines: readonly ShownMachine[]) => Sample[];
}

const POLLED =
  'Pushed by the client about once a minute and polled by the exporter; beaconchain_machine_last_seen_timestamp_seconds is the time of the newest record.';

const WITHHELD =
  'Withheld for ten minutes to an hour after it fell without a reboot, or rose faster than the CPUs allow: another pusher reports it too.';

function gauge(name: string, help: string, describe: (machine: ShownMachine) => Sample[]): MachineFamily {
  return {
    name: `beaconchain_machine_${name}`,
    type: 'gauge',
    help,
    samplesOf: (machines) =>
      machines.flatMap((one) => describe(one).map((sample) => ({ ...sample, until: one.until }))),
  };
}

/** A number or a flag; null and undefined give no sample. */
type Value = number | boolean | null | undefined;
type Field<R> = { [F in keyof R]-?: R[F] extends Value ? F : never }[keyof R] & string;
/** Any record, of which some fields are absent. */
type Values = { readonly [F in Field<SystemRecord> | Field<ValidatorRecord> | Field<NodeRecord>]?: Value };

/** Families whose values are one field of a record, by name. If there are several processes, the process is a label. */
function fieldsOf<F extends keyof Values>(...processes: readonly Process[]) {
  const familyOf = (name: string, field: F, help: string): MachineFamily => ({
    name: `beaconchain_machine_${name}`,
    type: name.endsWith('_total') ? 'counter' : 'gauge',
    help: `${help} (${field}). ${POLLED}${name.endsWith('_total') ? ` ${WITHHELD}` : ''}`,
    // A loop: an array for each machine and family takes a quarter longer with 1,000 machines.
    samplesOf(machines) {
      const samples: Sample[] = [];
      for (const { labels, processLabels, fresh, until } of machines) {
        for (const process of processes) {
          const record: Values | undefined = fresh[process];
          const value = record?.[field];
          if (value == null) continue;
          samples.push({ labels: processes.length > 1 ? processLabels[process] : labels, value: Number(value), until });
        }
      }
      return samples;
    },
  });
  return (table: Readonly<Record<string, readonly [field: F, help: string]>>): MachineFamily[] =>
    Object.entries(table).map(([name, [field, help]]) => familyOf(name, field, help));
}

const system = fieldsOf<Field<SystemRecord>>('system');
const validator = fieldsOf<Field<ValidatorRecord>>('validator');
const node = fieldsOf<Field<NodeRecord>>('node');
const both = fieldsOf<Field<ValidatorRecord> & Field<NodeRecord>>('validator', 'node');

const FAMILIES: readonly MachineFamily[] = [
  gauge(
    'last_seen_timestamp_seconds',
    "Unix time of the newest record, by the client's clock (timestamp); 0 for an expected machine that was never seen. Remains when stale values are withdrawn.",
    ({ processLabels, seen }) =>
      (lastSeen(seen) > 0 ? PROCESSES.filter((process) => seen[process]) : (['system'] as const)).map((process) => ({
        labels: processLabels[process],
        value: seen[process]?.timestamp ?? 0,
      })),
  ),
  gauge(
    'info',
    `Operating system as reported by the client, and version of the standalone pusher (misc_os, exporter_version); always 1. ${POLLED}`,
    ({ labels, fresh: { system } }) => {
      if (!system) return [];
      const { misc_os, exporter_version } = system;
      return [{ labels: { ...labels, os: misc_os ?? '', exporter_version: exporter_version ?? '' }, value: 1 }];
    },
  ),
  gauge(
    'clock_ahead_seconds',
    'By how much the clock of the machine is fast; only while its records are more than 5 minutes ahead. They count with the time of the poll.',
    ({ labels, fresh }) => (secondsAhead(fresh) > 0 ? [{ labels, value: secondsAhead(fresh) }] : []),
  ),
  ...system({
    cpu_cores: ['cpu_cores', 'Physical cores'],
    cpu_threads: ['cpu_threads', 'Logical CPUs'],
    cpu_seconds_total: [
      'cpu_node_system_seconds_total',
      'CPU time in all modes, including idle, despite the name of the field; Lodestar leaves out iowait, softirq and steal, Teku nice, irq, softirq and steal',
    ],
    cpu_user_seconds_total: ['cpu_node_user_seconds_total', 'CPU time in user mode'],
    cpu_iowait_seconds_total: ['cpu_node_iowait_seconds_total', 'CPU time waiting for I/O; Lodestar reports 0'],
    cpu_idle_seconds_total: ['cpu_node_idle_seconds_total', 'Idle CPU time'],
    memory_total_bytes: ['memory_node_bytes_total', 'RAM of the host, regardless of container limits'],
    memory_free_bytes: ['memory_node_bytes_free', 'Free RAM; Teku reports available RAM here'],
    memory_cached_bytes: ['memory_node_bytes_cached', 'Page cache; Teku reports 0'],
    memory_buffers_bytes: ['memory_node_bytes_buffers', 'Buffers; Teku reports 0'],
    disk_total_bytes: [
      'disk_node_bytes_total',
      'Size of the file system at /; Teku reports that of its data directory, Grandine the sum of all mounted file systems',
    ],
    disk_free_bytes: [
      'disk_node_bytes_free',
      'Free space on the file system of beaconchain_machine_disk_total_bytes; Lodestar reports the space available to users',
    ],
    disk_io_seconds_total: [
      'disk_node_io_seconds',
      'Time spent on disk I/O. Do not compare machines: the standalone pusher reports milliseconds of one disk, most clients report 0',
    ],
    disk_reads_total: ['disk_node_reads_total', 'Completed read operations, not bytes; Teku and Grandine report 0'],
    disk_writes_total: ['disk_node_writes_total', 'Completed write operations, not bytes; Teku and Grandine report 0'],
    network_receive_bytes_total: [
      'network_node_bytes_total_receive',
      'Bytes received on all interfaces; Lodestar reports only the first interface',
    ],
    network_transmit_bytes_total: [
      'network_node_bytes_total_transmit',
      'Bytes sent on all interfaces; Lodestar reports only the first interface',
    ],
    boot_time_seconds: [
      'misc_node_boot_ts_seconds',
      'Unix time of the last boot; Lodestar recomputes it, so it can vary by a second',
    ],
  }),
  ...both({
    process_cpu_seconds_total: [
      'cpu_process_seconds_total',
      'CPU time of the process since it started; Grandine reports its one process twice, so a sum counts it twice',
    ],
    process_memory_bytes: [
      'memory_process_bytes',
      'Resident memory; Teku reports the sum of its JVM memory pools, Grandine its one process twice',
    ],
    consensus_fallback_configured: [
      'sync_eth2_fallback_configured',
      'Whether a second beacon node is configured; only Lighthouse validator clients report it',
    ],
    consensus_fallback_connected: [
      'sync_eth2_fallback_connected',
      'Whether a second beacon node is synced, in use or not; only Lighthouse validator clients report it',
    ],
  }),
  ...validator({
    validators: ['validator_total', 'Loaded validator keys'],
    validators_active: [
      'validator_active',
      'Active validator keys; Lighthouse reports keys that are enabled locally, Teku and Grandine keys that are active on chain, Prysm those without exiting ones',
    ],
  }),
  ...node({
    beacon_database_bytes: [
      'disk_beaconchain_bytes_total',
      'Size of the beacon chain database; Lighthouse reports only the hot database, Teku and Nimbus report 0',
    ],
    libp2p_receive_bytes_total: [
      'network_libp2p_bytes_total_receive',
      'Bytes received over libp2p; Prysm reports messages instead, Grandine only requests and responses, Teku, Nimbus and some Lighthouse versions 0',
    ],
    libp2p_transmit_bytes_total: [
      'network_libp2p_bytes_total_transmit',
      'Bytes sent over libp2p; Grandine reports only requests and responses, Teku, Nimbus, Prysm and some Lighthouse versions 0',
    ],
    peers: ['network_peers_connected', 'Connected peers of the beacon node; Grandine reports 0 without --metrics'],
    execution_connected: [
      'sync_eth1_connected',
      'Whether the execution client is connected; only of a machine that reported 1 with its current client and version, because Teku 26.7.1, Lighthouse 7.1 and newer versions always report 0. Prysm and Nimbus always report 1, Lodestar if an execution URL is configured',
    ],
    synced: [
      'sync_eth2_synced',
      "Whether the beacon node says that it is synced; Prysm's client-stats reports 0 unless the head is the current slot, so check the head; the standalone pusher always 1",
    ],
    head_slot: ['sync_beacon_head_slot', 'Head slot of the beacon node; can decrease in a reorganisation'],
    execution_fallback_configured: ['sync_eth1_fallback_configured', 'Whether a second execution client is configured'],
    execution_fallback_connected: [
      'sync_eth1_fallback_connected',
      'Whether the second execution client is in use; no known client reports 1',
    ],
  }),
  // Accompanies the flag and the head of the node, which say nothing on an assumed chain.
  gauge(
    'chain_known',
    "Whether the chain label is that of a rule or was found from two reports of the machine's own node; 0 if it is assumed, or if the node contradicts it.",
    ({ labels, fresh, isChainKnown }) => (fresh.node ? [{ labels, value: Number(isChainKnown) }] : []),
  ),
  gauge(
    'name_shared',
    'Whether several hosts report under this name, because the boot time came back to an earlier value twice in a day. While it is 1, counters and the boot time are withheld, and the fuller disk is shown.',
    ({ labels, fresh, isNameShared }) => (fresh.system ? [{ labels, value: Number(isNameShared) }] : []),
  ),
  gauge(
    'client_info',
    `Client name, version and build (client_name, client_version, client_build, exporter_version); always 1; only Grandine reports a build, as the Unix time at which it was built. ${POLLED}`,
    ({ processLabels, fresh }) =>
      (['validator', 'node'] as const).flatMap((process) => {
        const record = fresh[process];
        if (!record) return [];
        const client = {
          client_name: record.client_name ?? '',
          client_version: record.client_version ?? '',
          client_build: String(record.client_build ?? ''),
          exporter_version: record.exporter_version ?? '',
        };
        return [{ labels: { ...processLabels[process], ...client }, value: 1 }];
      }),
  ),
];

export function machineFamilies(options: MachinesOptions, value: Machines, timing: Timing): Family[] {
  const shown = shownMachines(options, value, timing);
  const chainsOf = Map.groupBy(shown, ({ labels }) => labels.chain);
  const until = shown.reduce((first, one) => Math.min(first, one.until ?? first), Number.POSITIVE_INFINITY);
  return [
    ...FAMILIES.map((one) => lazyFamily(one, () => one.samplesOf(shown))),
    family(
      'machines',
      'Machines seen within machines.forget_after, including expected machines',
      [...new Set([...options.chains, ...chainsOf.keys()])].map((chain) => ({
        labels: { chain },
        value: chainsOf.get(chain)?.length ?? 0,
        until,
      })),
    ),
    family('machines_dropped', 'Machines that the last sweep dropped because of machines.max; normally 0', [
      { labels: {}, value: value.dropped },
    ]),
  ];
}

/** The families of past machines, each with one record, whose time their samples have. Without those about the whole fleet. */
export function pastMachineFamilies(past: readonly ShownMachine[]): Family[] {
  return FAMILIES.map((each) =>
    lazyFamily(each, () =>
      past.flatMap((one) => each.samplesOf([one]).map((sample) => ({ ...sample, at: lastSeen(one.seen) }))),
    ),
  );
}
