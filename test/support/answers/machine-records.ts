import type * as z from 'zod';
import type { MachineMetricsBody } from '../../../src/sandbox/body.ts';
import type { MachinesOptions } from '../../../src/sources/machines/options.ts';
import { DAY, MINUTE } from '../time/timing.ts';

type Fields = Record<string, unknown>;

/** The section `machines` of the configuration with its defaults. */
export function machinesOptions(overrides: Partial<MachinesOptions> = {}): MachinesOptions {
  return {
    intervalMs: MINUTE,
    staleAfterMs: 'auto',
    forgetAfterMs: 31 * DAY,
    expected: [],
    include: [],
    exclude: [],
    max: 10_000,
    chains: ['mainnet'],
    chain: 'mainnet',
    chainRules: [],
    groups: [],
    ...overrides,
  };
}

/** Records as the service sends them (api-facts 2): times in milliseconds, no fields that are zero. */
export function systemRecord(fields: Fields = {}): Fields {
  return {
    timestamp: 1790769623000,
    machine: 'node-a',
    exporter_version: '',
    cpu_cores: 8,
    cpu_threads: 16,
    cpu_node_system_seconds_total: 17280000,
    cpu_node_user_seconds_total: 2100000,
    cpu_node_iowait_seconds_total: 90000,
    cpu_node_idle_seconds_total: 14600000,
    memory_node_bytes_total: 67200000000,
    memory_node_bytes_free: 3100000000,
    memory_node_bytes_cached: 31000000000,
    memory_node_bytes_buffers: 900000000,
    disk_node_bytes_total: 3936000000000,
    disk_node_bytes_free: 1500000000000,
    disk_node_reads_total: 812345678,
    disk_node_writes_total: 1456789012,
    network_node_bytes_total_receive: 9123456789012,
    network_node_bytes_total_transmit: 8012345678901,
    misc_node_boot_ts_seconds: 1789689623,
    misc_os: 'lin',
    ...fields,
  };
}

export function validatorRecord(fields: Fields = {}): Fields {
  return {
    timestamp: 1790769624000,
    machine: 'node-a',
    cpu_process_seconds_total: 5400,
    memory_process_bytes: 210000000,
    client_name: 'lighthouse',
    client_version: '8.0.0',
    validator_total: 12,
    validator_active: 11,
    ...fields,
  };
}

export function nodeRecord(fields: Fields = {}): Fields {
  return {
    timestamp: 1790769625000,
    machine: 'node-a',
    cpu_process_seconds_total: 412000,
    memory_process_bytes: 6100000000,
    client_name: 'lighthouse',
    client_version: '8.0.0',
    disk_beaconchain_bytes_total: 190000000000,
    network_peers_connected: 97,
    sync_eth1_connected: true,
    sync_eth2_synced: true,
    sync_beacon_head_slot: 15328790,
    ...fields,
  };
}

/** The body of a request for a page of machine metrics, as it is sent. */
export type MetricsRequest = z.input<typeof MachineMetricsBody>;

export interface Arrays {
  readonly system?: readonly unknown[];
  readonly validator?: readonly unknown[];
  readonly node?: readonly unknown[];
}

/** One page of POST /api/v2/machine-metrics. */
export function machinesPage({ system = [], validator = [], node = [] }: Arrays, nextCursor?: string): unknown {
  return {
    data: { system_metrics: system, validator_metrics: validator, node_metrics: node },
    paging: { next_cursor: nextCursor },
  };
}
