import type { Chain } from '../facts/chain.ts';
import { MS_PER_MINUTE, SECONDS_PER_DAY } from '../toolkit/lib/duration.ts';
import { between } from '../toolkit/lib/random.ts';
import type { Milliseconds, Seconds, UnixMs, UnixSeconds } from '../toolkit/lib/time.ts';
import { headSlot } from './chain-world.ts';

export const CLIENTS = {
  lighthouse: '8.0.0',
  teku: 'v25.11.0',
  nimbus: 'v25.11.0-1a2b3c',
  lodestar: 'v1.36.0/2ad2fb5',
} as const;

/** A time in which a machine pushes. `until` is exclusive. */
export interface PushSpan {
  readonly from: UnixMs;
  until: UnixMs;
}

export interface SimulatedMachine {
  readonly name: string;
  readonly chain: Chain;
  readonly client: keyof typeof CLIENTS;
  readonly seed: number;
  /** Time between two pushes. Push n is `phase` after n times this (Unix ms). */
  readonly everyMs: Milliseconds;
  readonly phase: Milliseconds;
  readonly boot: UnixSeconds;
  /** How long after its time the service has a record. */
  readonly lateMs: Milliseconds;
  /** In order. */
  readonly spans: PushSpan[];
  /** The content of its records beside time and name. Default: drawn from the seed. */
  readonly contents?: (process: Process, time: UnixMs) => object;
  diskFullSince?: UnixMs;
}

const GIB = 2 ** 30;

/** A record that is not serialized yet. */
export interface Push {
  readonly time: UnixMs;
  readonly machine: SimulatedMachine;
  readonly process: Process;
}

const FIELDS = { system, validator, node };
export type Process = keyof typeof FIELDS;
export const PROCESSES = Object.keys(FIELDS) as Process[];

/** The record of one push, as the service sends it. */
export function recordOf({ machine, process, time }: Push): object {
  const uptime = time / 1000 - machine.boot;
  const contents = machine.contents?.(process, time) ?? FIELDS[process](machine, uptime, time);
  return { timestamp: time, machine: machine.name, ...contents };
}

/** A counter that grows by about `rate` per second, faster and slower over hours. */
function counter(uptime: Seconds, rate: number): number {
  const period = 21_600 / (2 * Math.PI);
  return Math.floor(rate * (uptime + 0.5 * period * (1 - Math.cos(uptime / period))));
}

function system(machine: SimulatedMachine, uptime: Seconds, time: UnixMs): object {
  const { seed, boot } = machine;
  const cores = 4 * between(1, 4, seed, 3);
  const threads = 2 * cores;
  const user = counter(uptime, threads * 0.12);
  const iowait = counter(uptime, threads * 0.005);
  const kernel = counter(uptime, threads * 0.03);
  return {
    cpu_cores: cores,
    cpu_threads: threads,
    // All modes, idle included (api-facts 1.3).
    cpu_node_system_seconds_total: Math.floor(threads * uptime),
    cpu_node_user_seconds_total: user,
    cpu_node_iowait_seconds_total: iowait,
    cpu_node_idle_seconds_total: Math.floor(threads * uptime) - user - iowait - kernel,
    ...memory(machine, uptime),
    ...disk(machine, uptime, time),
    disk_node_io_seconds: counter(uptime, 80),
    disk_node_reads_total: counter(uptime, 45),
    disk_node_writes_total: counter(uptime, 81),
    network_node_bytes_total_receive: counter(uptime, 2.1e6),
    network_node_bytes_total_transmit: counter(uptime, 1.8e6),
    misc_node_boot_ts_seconds: boot,
    misc_os: 'lin',
  };
}

function memory({ seed }: SimulatedMachine, uptime: Seconds): Record<string, number> {
  const total = 16 * between(1, 4, seed, 4) * GIB;
  const used = Math.floor(total * (0.45 + 0.08 * Math.sin(uptime / 9000)));
  const buffers = Math.floor(total * 0.013);
  const cached = Math.floor((total - used - buffers) * 0.85);
  return {
    memory_node_bytes_total: total,
    memory_node_bytes_free: total - used - cached - buffers,
    memory_node_bytes_cached: cached,
    memory_node_bytes_buffers: buffers,
  };
}

/** Fills by about 0.1 % of its size a day, and is empty again after 400 days. */
function disk({ seed, diskFullSince }: SimulatedMachine, uptime: Seconds, time: UnixMs): Record<string, number> {
  const total = between(2, 4, seed, 6) * 1e12;
  const isFull = diskFullSince !== undefined && time >= diskFullSince;
  const free = isFull ? 0.05 : 0.65 - 0.001 * ((uptime / SECONDS_PER_DAY) % 400);
  return { disk_node_bytes_total: total, disk_node_bytes_free: Math.floor(total * free) };
}

function program({ client }: SimulatedMachine, uptime: Seconds, gib: number, cpuPerSecond: number) {
  return {
    cpu_process_seconds_total: counter(uptime, cpuPerSecond),
    memory_process_bytes: Math.floor(gib * GIB * (1 + 0.1 * Math.sin(uptime / 5000))),
    client_name: client,
    client_version: CLIENTS[client],
  };
}

function validator(machine: SimulatedMachine, uptime: Seconds): object {
  const total = between(1, 200, machine.seed, 8);
  return { ...program(machine, uptime, 0.2, 0.02), validator_total: total, validator_active: total };
}

function node(machine: SimulatedMachine, uptime: Seconds, time: UnixMs): object {
  const { seed, chain } = machine;
  return {
    ...program(machine, uptime, 5, 0.4),
    disk_beaconchain_bytes_total: Math.floor(1.5e11 + 800 * uptime),
    network_libp2p_bytes_total_receive: counter(uptime, 9e5),
    network_libp2p_bytes_total_transmit: counter(uptime, 7e5),
    network_peers_connected: between(70, 110, seed, 9, Math.floor(time / MS_PER_MINUTE)),
    sync_eth1_connected: true,
    sync_eth2_synced: true,
    sync_beacon_head_slot: headSlot(chain, time) + between(0, 1, seed, 10),
  };
}
