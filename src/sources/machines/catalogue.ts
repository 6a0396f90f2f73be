import type { FamilyHead } from '../../metrics/family.ts';
import type { NodeRecord, Process, ProcessRecord, SystemRecord, ValidatorRecord } from './schema.ts';

type FieldValue = number | boolean | null | undefined;

/** A family whose values are one field of a record. */
export interface FieldFamily extends FamilyHead {
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
export const FLEET = {
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
