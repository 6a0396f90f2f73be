import * as z from 'zod';
import { Bytes, identity, List, orOdd, Paging, PushedAt, Quantity, Text } from './fields.ts';

/** Unsigned in the service's storage (api-facts 1.1). */
const Measured = Quantity.nullish();
const Size = Bytes.nullish();
/** The API leaves out zeros and false (api-facts 1.1), so an absent field is 0 where 0 makes sense. */
const ZeroIfAbsent = Quantity.nullable().default(0);
const FalseIfAbsent = z.boolean().nullable().default(false);
const Label = Text.nullish();

const common = { timestamp: PushedAt, machine: identity(Label), exporter_version: Label };

const process = {
  cpu_process_seconds_total: Measured,
  memory_process_bytes: Size,
  client_name: Label,
  client_version: Label,
  client_build: Measured,
  sync_eth2_fallback_configured: FalseIfAbsent,
  sync_eth2_fallback_connected: FalseIfAbsent,
};

/** Absent means 0 bytes free, as on a full disk, unless the total is absent too. */
function freeOf(free: number | null | undefined, total: number | null | undefined): number | null | undefined {
  return free === undefined && total != null ? 0 : free;
}

/** api-facts 1.3. Zeros, false and empty strings can be absent. */
export const SystemRecord = z
  .object({
    ...common,
    cpu_cores: Measured,
    cpu_threads: Measured,
    cpu_node_system_seconds_total: Measured,
    cpu_node_user_seconds_total: Measured,
    cpu_node_iowait_seconds_total: Measured,
    cpu_node_idle_seconds_total: Measured,
    memory_node_bytes_total: Size,
    memory_node_bytes_free: Size,
    memory_node_bytes_cached: Size,
    memory_node_bytes_buffers: Size,
    disk_node_bytes_total: Size,
    disk_node_bytes_free: Size,
    disk_node_io_seconds: Measured,
    disk_node_reads_total: Measured,
    disk_node_writes_total: Measured,
    network_node_bytes_total_receive: Size,
    network_node_bytes_total_transmit: Size,
    misc_node_boot_ts_seconds: Measured,
    misc_os: Label,
  })
  .transform((record): typeof record => ({
    ...record,
    memory_node_bytes_free: freeOf(record.memory_node_bytes_free, record.memory_node_bytes_total),
    disk_node_bytes_free: freeOf(record.disk_node_bytes_free, record.disk_node_bytes_total),
  }));
export type SystemRecord = z.infer<typeof SystemRecord>;

export const ValidatorRecord = z.object({
  ...common,
  ...process,
  validator_total: ZeroIfAbsent,
  validator_active: ZeroIfAbsent,
});
export type ValidatorRecord = z.infer<typeof ValidatorRecord>;

export const NodeRecord = z.object({
  ...common,
  ...process,
  disk_beaconchain_bytes_total: Size,
  network_libp2p_bytes_total_receive: Size,
  network_libp2p_bytes_total_transmit: Size,
  network_peers_connected: ZeroIfAbsent,
  sync_eth1_connected: FalseIfAbsent,
  sync_eth2_synced: FalseIfAbsent,
  sync_beacon_head_slot: Measured,
  sync_eth1_fallback_configured: FalseIfAbsent,
  sync_eth1_fallback_connected: FalseIfAbsent,
});
export type NodeRecord = z.infer<typeof NodeRecord>;

/** The records of each process of a machine. */
export const RECORDS = { system: SystemRecord, validator: ValidatorRecord, node: NodeRecord };
export type Process = keyof typeof RECORDS;
/** A record, and its process. */
export type MachineRecord = { [P in Process]: readonly [P, z.infer<(typeof RECORDS)[P]>] }[Process];
export const PROCESSES = ['system', 'validator', 'node'] as const satisfies readonly Process[];

/** False if the list is unreadable. */
const items = orOdd(List.nullish(), false);

/** api-facts 2. An array without records may be left out. */
export const MachineMetricsPage = z.object({
  data: z.object({ system_metrics: items, validator_metrics: items, node_metrics: items }),
  paging: Paging,
});

/** api-facts 2. */
export const MachineNames = z.object({ data: List });
export const MachineName = Text;
