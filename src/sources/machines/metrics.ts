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
  'Pushed about once a minute, then polled; beaconchain_machine_last_seen_timestamp_seconds is the time of the newest record.';

const WITHHELD =
  'Withheld for ten minutes to an hour after a fall without a reboot, or a rise faster than the CPUs allow: another pusher reports it too.';

function gauge(name: string, help: string, describe: (machine: ShownMachine) => Sample[]): MachineFamily {
  return {
    name: `beaconchain_machine_${name}`,
    type: 'gauge',
    help,
    samplesOf: (machines) =>
      machines.flatMap((one) => describe(one).map((sample) => ({ ...sample, until: one.until }))),
  };
}

/** Null and undefined give no sample. */
type Value = number | boolean | null | undefined;
type Field<R> = { [F in keyof R]-?: R[F] extends Value ? F : never }[keyof R] & string;
/** Any record, with some fields. */
type Values = { readonly [F in Field<SystemRecord> | Field<ValidatorRecord> | Field<NodeRecord>]?: Value };

/** Families by name, each for one field of a record. With several processes, the process is a label. */
function fieldsOf<F extends keyof Values>(...processes: readonly Process[]) {
  const familyOf = (name: string, field: F, help: string): MachineFamily => ({
    name: `beaconchain_machine_${name}`,
    type: name.endsWith('_total') ? 'counter' : 'gauge',
    help: `${help} (${field}). ${POLLED}${name.endsWith('_total') ? ` ${WITHHELD}` : ''}`,
    // A loop, because an array for each machine and family takes a quarter longer with 1,000 machines.
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
    "Unix time of the newest record, by the client's clock (timestamp); 0 if an expected machine was never seen. Outlives the other values.",
    ({ processLabels, seen }) =>
      (lastSeen(seen) > 0 ? PROCESSES.filter((process) => seen[process]) : (['system'] as const)).map((process) => ({
        labels: processLabels[process],
        value: seen[process]?.timestamp ?? 0,
      })),
  ),
  gauge(
    'info',
    `Operating system, and version of the standalone pusher (misc_os, exporter_version); always 1. ${POLLED}`,
    ({ labels, fresh: { system } }) => {
      if (!system) return [];
      const { misc_os, exporter_version } = system;
      return [{ labels: { ...labels, os: misc_os ?? '', exporter_version: exporter_version ?? '' }, value: 1 }];
    },
  ),
  gauge(
    'clock_ahead_seconds',
    'How far the clock of the machine is ahead, if more than 5 minutes; its records then count with the time of the poll.',
    ({ labels, fresh }) => (secondsAhead(fresh) > 0 ? [{ labels, value: secondsAhead(fresh) }] : []),
  ),
  ...system({
    cpu_cores: ['cpu_cores', 'Physical cores'],
    cpu_threads: ['cpu_threads', 'Logical CPUs'],
    cpu_seconds_total: [
      'cpu_node_system_seconds_total',
      'CPU time in all modes, including idle; Lodestar leaves out iowait, softirq and steal, Teku nice, irq, softirq and steal',
    ],
    cpu_user_seconds_total: ['cpu_node_user_seconds_total', 'CPU time in user mode'],
    cpu_iowait_seconds_total: ['cpu_node_iowait_seconds_total', 'CPU time waiting for I/O; Lodestar reports 0'],
    cpu_idle_seconds_total: ['cpu_node_idle_seconds_total', 'Idle CPU time'],
    memory_total_bytes: ['memory_node_bytes_total', 'RAM of the host, without container limits'],
    memory_free_bytes: ['memory_node_bytes_free', 'Free RAM; Teku reports available RAM'],
    memory_cached_bytes: ['memory_node_bytes_cached', 'Page cache; Teku reports 0'],
    memory_buffers_bytes: ['memory_node_bytes_buffers', 'Buffers; Teku reports 0'],
    disk_total_bytes: [
      'disk_node_bytes_total',
      'Size of the file system at /; Teku reports that of its data directory, Grandine the sum of all file systems',
    ],
    disk_free_bytes: [
      'disk_node_bytes_free',
      'Free space of the file system of beaconchain_machine_disk_total_bytes; with Lodestar what users can fill',
    ],
    disk_io_seconds_total: [
      'disk_node_io_seconds',
      'Disk I/O time. The standalone pusher reports milliseconds of one disk, most clients 0: do not compare machines',
    ],
    disk_reads_total: ['disk_node_reads_total', 'Completed reads, not bytes; Teku and Grandine report 0'],
    disk_writes_total: ['disk_node_writes_total', 'Completed writes, not bytes; Teku and Grandine report 0'],
    network_receive_bytes_total: [
      'network_node_bytes_total_receive',
      'Bytes received on all interfaces; with Lodestar only the first',
    ],
    network_transmit_bytes_total: [
      'network_node_bytes_total_transmit',
      'Bytes sent on all interfaces; with Lodestar only the first',
    ],
    boot_time_seconds: ['misc_node_boot_ts_seconds', 'Unix time of the last boot; with Lodestar it varies by a second'],
  }),
  ...both({
    process_cpu_seconds_total: [
      'cpu_process_seconds_total',
      'CPU time since the process started; Grandine reports its one process twice',
    ],
    process_memory_bytes: [
      'memory_process_bytes',
      'Resident memory; Teku reports the sum of its JVM pools, Grandine its one process twice',
    ],
    consensus_fallback_configured: [
      'sync_eth2_fallback_configured',
      'Whether a second beacon node is configured; only Lighthouse validator clients say so',
    ],
    consensus_fallback_connected: [
      'sync_eth2_fallback_connected',
      'Whether a second beacon node is synced, in use or not; only Lighthouse validator clients say so',
    ],
  }),
  ...validator({
    validators: ['validator_total', 'Loaded validator keys'],
    validators_active: [
      'validator_active',
      'Active keys: enabled locally with Lighthouse, active on chain with Teku and Grandine, without exiting ones with Prysm',
    ],
  }),
  ...node({
    beacon_database_bytes: [
      'disk_beaconchain_bytes_total',
      'Size of the beacon chain database; with Lighthouse only the hot part, with Teku and Nimbus 0',
    ],
    libp2p_receive_bytes_total: [
      'network_libp2p_bytes_total_receive',
      'Bytes received over libp2p; Prysm reports messages, Grandine only requests and responses, Teku, Nimbus and some Lighthouse versions 0',
    ],
    libp2p_transmit_bytes_total: [
      'network_libp2p_bytes_total_transmit',
      'Bytes sent over libp2p; Grandine reports only requests and responses, Prysm, Teku, Nimbus and some Lighthouse versions 0',
    ],
    peers: ['network_peers_connected', 'Connected peers of the beacon node; Grandine reports 0 without --metrics'],
    execution_connected: [
      'sync_eth1_connected',
      'Whether the execution client is connected; absent until the current client and version report 1, because Teku 26.7.1, Lighthouse 7.1 and newer always report 0. Prysm and Nimbus always report 1, Lodestar if an execution URL is set',
    ],
    synced: [
      'sync_eth2_synced',
      "Whether the beacon node says that it is synced; Prysm's client-stats says no unless the head is the current slot, the standalone pusher always yes",
    ],
    head_slot: ['sync_beacon_head_slot', 'Head slot of the beacon node; can fall in a reorganisation'],
    execution_fallback_configured: ['sync_eth1_fallback_configured', 'Whether a second execution client is configured'],
    execution_fallback_connected: [
      'sync_eth1_fallback_connected',
      'Whether the second execution client is in use; no known client reports 1',
    ],
  }),
  // On an assumed chain, the flag and the head of the node say nothing.
  gauge(
    'chain_known',
    "Whether a rule sets the chain label, or two reports of the machine's node agree on it; 0 if it is assumed, or the node contradicts it.",
    ({ labels, fresh, isChainKnown }) => (fresh.node ? [{ labels, value: Number(isChainKnown) }] : []),
  ),
  gauge(
    'name_shared',
    'Whether several hosts report under this name: the boot time returned to an earlier value twice in a day. Counters and boot time are then withheld, and the fuller disk is shown.',
    ({ labels, fresh, isNameShared }) => (fresh.system ? [{ labels, value: Number(isNameShared) }] : []),
  ),
  gauge(
    'client_info',
    `Client name, version and build (client_name, client_version, client_build, exporter_version); always 1; only Grandine reports a build, as Unix time. ${POLLED}`,
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
    family('machines_dropped', 'Machines that the last sweep dropped because of machines.max', [
      { labels: {}, value: value.dropped },
    ]),
  ];
}

/** The families of past machines, each with one record and its time. Without families about the whole fleet. */
export function pastMachineFamilies(past: readonly ShownMachine[]): Family[] {
  return FAMILIES.map((each) =>
    lazyFamily(each, () =>
      past.flatMap((one) => each.samplesOf([one]).map((sample) => ({ ...sample, at: lastSeen(one.seen) }))),
    ),
  );
}
