import type { FamilyHead } from '../../metrics/family.ts';
import type { NodeRecord, Process, ProcessRecord, SystemRecord, ValidatorRecord } from './schema.ts';

type FieldValue = number | boolean | null | undefined;

/** A family whose values are one field of a record. */
export interface FieldFamily extends FamilyHead {
  /** Where there are several, the process is a label. */
  readonly processes: readonly Process[];
  /** The sample's value; null and undefined give no sample. */
  value(record: ProcessRecord): FieldValue;
}

const POLLED =
  'Pushed by the client about once a minute and polled here: beaconchain_machine_last_seen_timestamp_seconds says how old it is.';

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
    'CPU time in all modes together, idle included, despite the name of the field',
  ),
  system('cpu_user_seconds_total', 'cpu_node_user_seconds_total', 'CPU time in user mode'),
  system('cpu_iowait_seconds_total', 'cpu_node_iowait_seconds_total', 'CPU time waiting for I/O; 0 from Lodestar'),
  system('cpu_idle_seconds_total', 'cpu_node_idle_seconds_total', 'CPU time idle'),
  system('memory_total_bytes', 'memory_node_bytes_total', 'RAM of the host, container limits aside'),
  system(
    'memory_free_bytes',
    'memory_node_bytes_free',
    'Free RAM; Teku reports available RAM here',
    zeroWhere('memory_node_bytes_total'),
  ),
  system('memory_cached_bytes', 'memory_node_bytes_cached', 'Page cache; 0 from Teku'),
  system('memory_buffers_bytes', 'memory_node_bytes_buffers', 'Buffers; 0 from Teku'),
  system('disk_total_bytes', 'disk_node_bytes_total', 'Size of the file system at / (of the data directory from Teku)'),
  system(
    'disk_free_bytes',
    'disk_node_bytes_free',
    'Free space on that file system; available to users from Lodestar',
    zeroWhere('disk_node_bytes_total'),
  ),
  system(
    'disk_io_seconds_total',
    'disk_node_io_seconds',
    'Time spent on disk I/O as reported: the standalone pusher sends milliseconds of one disk, most clients 0',
  ),
  system('disk_reads_total', 'disk_node_reads_total', 'Completed read operations, not bytes; 0 from Teku'),
  system('disk_writes_total', 'disk_node_writes_total', 'Completed write operations, not bytes; 0 from Teku'),
  system(
    'network_receive_bytes_total',
    'network_node_bytes_total_receive',
    'Bytes received on all interfaces; on the first one only from Lodestar',
  ),
  system(
    'network_transmit_bytes_total',
    'network_node_bytes_total_transmit',
    'Bytes sent on all interfaces; on the first one only from Lodestar',
  ),
  system(
    'boot_time_seconds',
    'misc_node_boot_ts_seconds',
    'Unix time of the last boot; Lodestar recomputes it, so it moves by a second',
  ),
  both('process_cpu_seconds_total', 'cpu_process_seconds_total', 'CPU time of the process since its start'),
  both('process_memory_bytes', 'memory_process_bytes', 'Resident memory; sum of the JVM pools from Teku'),
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
  validator('validators', 'validator_total', 'Validator keys that are loaded', zero),
  validator(
    'validators_active',
    'validator_active',
    'Keys that are active; locally enabled keys from Lighthouse, active on chain from Teku',
    zero,
  ),
  node(
    'beacon_database_bytes',
    'disk_beaconchain_bytes_total',
    'Size of the beacon chain database; the hot one from Lighthouse, 0 from Teku and Nimbus',
  ),
  node(
    'libp2p_receive_bytes_total',
    'network_libp2p_bytes_total_receive',
    'Bytes received over libp2p; messages from Prysm, 0 from Teku, Nimbus and some Lighthouse versions',
  ),
  node(
    'libp2p_transmit_bytes_total',
    'network_libp2p_bytes_total_transmit',
    'Bytes sent over libp2p; 0 from Teku, Nimbus, Prysm and some Lighthouse versions',
  ),
  node('peers', 'network_peers_connected', 'Connected peers of the beacon node', zero),
  node(
    'execution_connected',
    'sync_eth1_connected',
    'Whether the execution client is connected; always 1 from Prysm and Nimbus',
    zero,
  ),
  node('synced', 'sync_eth2_synced', 'Whether the beacon node is synced; always 1 from Prysm and Nimbus', zero),
  node('head_slot', 'sync_beacon_head_slot', 'Head slot of the beacon node; steps back on a reorganisation'),
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
    help: "Unix time of the newest record (timestamp), by the client's own clock; 0 for an expected machine that was never seen. Stays when the values are withdrawn as stale.",
  },
  info: {
    name: 'beaconchain_machine_info',
    type: 'gauge',
    help: `Operating system as the client names it and version of the standalone pusher (misc_os, exporter_version); always 1. ${POLLED}`,
  },
  clientInfo: {
    name: 'beaconchain_machine_client_info',
    type: 'gauge',
    help: `Client name and version (client_name, client_version, client_build, exporter_version); always 1. ${POLLED}`,
  },
  count: {
    name: 'beaconchain_machines',
    type: 'gauge',
    help: 'Machines seen within machines.forget_after, expected ones included.',
  },
  dropped: {
    name: 'beaconchain_machines_dropped',
    type: 'gauge',
    help: 'Machines that the last sweep left out because of machines.max; 0 normally.',
  },
} as const satisfies Record<string, FamilyHead>;
