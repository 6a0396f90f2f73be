import * as z from 'zod';

/** JSON numbers that count or measure: unsigned in the service's storage (api-facts 1.1). */
const Quantity = z.number().nonnegative().nullish();
/** The API leaves zeros and false out (api-facts 1.1). So an absent field means 0 wherever 0 is a sensible value. */
const ZeroIfAbsent = z.number().nonnegative().nullable().default(0);
const FalseIfAbsent = z.boolean().nullable().default(false);
/** In code points: what a label can take without making every scrape large. */
const MAX_TEXT_LENGTH = 1_000;
/** A lone surrogate cannot be written as UTF-8: two names that differ only there would be one series. */
const isShort = (text: string): boolean => text.length <= MAX_TEXT_LENGTH || [...text].length <= MAX_TEXT_LENGTH;
const WellFormed = z.string().refine((text) => text.isWellFormed() && isShort(text));
const Text = WellFormed.nullish();

/** Unix seconds. Clients push milliseconds, and one page of the docs says seconds: 1e11 seconds are in the year 5138. */
const Timestamp = z
  .number()
  .positive()
  .transform((time) => (time > 1e11 ? time / 1000 : time));

const common = { timestamp: Timestamp, machine: Text, exporter_version: Text };

const process = {
  cpu_process_seconds_total: Quantity,
  memory_process_bytes: Quantity,
  client_name: Text,
  client_version: Text,
  client_build: Quantity,
  sync_eth2_fallback_configured: FalseIfAbsent,
  sync_eth2_fallback_connected: FalseIfAbsent,
};

/** Absent means 0 bytes free, as on a full disk. A record without the total says nothing about the disk. */
function freeOf(free: number | null | undefined, total: number | null | undefined): number | null | undefined {
  return free === undefined && total != null ? 0 : free;
}

/** api-facts 1.3. Zeros, false and empty strings can be absent. */
export const SystemRecord = z
  .object({
    ...common,
    cpu_cores: Quantity,
    cpu_threads: Quantity,
    cpu_node_system_seconds_total: Quantity,
    cpu_node_user_seconds_total: Quantity,
    cpu_node_iowait_seconds_total: Quantity,
    cpu_node_idle_seconds_total: Quantity,
    memory_node_bytes_total: Quantity,
    memory_node_bytes_free: Quantity,
    memory_node_bytes_cached: Quantity,
    memory_node_bytes_buffers: Quantity,
    disk_node_bytes_total: Quantity,
    disk_node_bytes_free: Quantity,
    disk_node_io_seconds: Quantity,
    disk_node_reads_total: Quantity,
    disk_node_writes_total: Quantity,
    network_node_bytes_total_receive: Quantity,
    network_node_bytes_total_transmit: Quantity,
    misc_node_boot_ts_seconds: Quantity,
    misc_os: Text,
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
  disk_beaconchain_bytes_total: Quantity,
  network_libp2p_bytes_total_receive: Quantity,
  network_libp2p_bytes_total_transmit: Quantity,
  network_peers_connected: ZeroIfAbsent,
  sync_eth1_connected: FalseIfAbsent,
  sync_eth2_synced: FalseIfAbsent,
  sync_beacon_head_slot: Quantity,
  sync_eth1_fallback_configured: FalseIfAbsent,
  sync_eth1_fallback_connected: FalseIfAbsent,
});
export type NodeRecord = z.infer<typeof NodeRecord>;

/** The records of each process of a machine. */
export const RECORDS = { system: SystemRecord, validator: ValidatorRecord, node: NodeRecord };
export type Process = keyof typeof RECORDS;
export type ProcessRecord = SystemRecord | ValidatorRecord | NodeRecord;
/** One record, and the process that it is about. */
export type MachineRecord = { [P in Process]: readonly [P, z.infer<(typeof RECORDS)[P]>] }[Process];
export const PROCESSES = ['system', 'validator', 'node'] as const satisfies readonly Process[];

const items = z.array(z.unknown()).nullish();

/** api-facts 2. An array without records may be left out. */
export const MachineMetricsPage = z.object({
  data: z.object({ system_metrics: items, validator_metrics: items, node_metrics: items }),
  paging: z.object({ next_cursor: z.string().nullish() }).nullish(),
});

/** api-facts 2. */
export const MachineNames = z.object({ data: z.array(z.unknown()) });
export const MachineName = WellFormed;
export const ListedName = z.object({ name: MachineName });
