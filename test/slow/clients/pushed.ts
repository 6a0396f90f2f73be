import { NOW } from '../../support/time/timing.ts';

/** A record as a client pushes it. */
export type Pushed = Readonly<Record<string, string | number | boolean>>;
type Bodies = Readonly<Record<string, readonly Pushed[]>>;

/** The time of every body below, each of a machine that started at `BOOT` (Unix seconds). */
export const WRITTEN_AT = NOW;
export const BOOT = 1_789_689_623;

/** Lighthouse reads every field (api-facts 1.3). */
const SYSTEM: Pushed = {
  version: 1,
  process: 'system',
  cpu_cores: 4,
  cpu_threads: 8,
  cpu_node_system_seconds_total: 8_640_296,
  cpu_node_user_seconds_total: 1_100_412,
  cpu_node_iowait_seconds_total: 90_118,
  cpu_node_idle_seconds_total: 7_199_806,
  memory_node_bytes_total: 33_501_802_496,
  memory_node_bytes_free: 1_204_396_032,
  memory_node_bytes_cached: 14_016_905_216,
  memory_node_bytes_buffers: 917_504_000,
  disk_node_bytes_total: 3_936_818_806_784,
  disk_node_bytes_free: 1_500_301_910_016,
  disk_node_io_seconds: 0,
  disk_node_reads_total: 81_234_567,
  disk_node_writes_total: 145_678_901,
  network_node_bytes_total_receive: 540_018_612_224,
  network_node_bytes_total_transmit: 620_734_193_664,
  misc_node_boot_ts_seconds: BOOT,
  misc_os: 'lin',
};

const NODE: Pushed = {
  version: 1,
  process: 'beaconnode',
  cpu_process_seconds_total: 412_004,
  memory_process_bytes: 6_100_254_720,
  client_build: 0,
  disk_beaconchain_bytes_total: 190_354_812_928,
  network_libp2p_bytes_total_receive: 0,
  network_libp2p_bytes_total_transmit: 0,
  network_peers_connected: 97,
  sync_eth1_connected: false,
  sync_eth2_synced: true,
  sync_beacon_head_slot: 15_328_802,
  sync_eth1_fallback_configured: false,
  sync_eth1_fallback_connected: false,
};

const NO_FALLBACK: Pushed = { sync_eth2_fallback_configured: false, sync_eth2_fallback_connected: false };

const VALIDATOR: Pushed = {
  version: 1,
  process: 'validator',
  cpu_process_seconds_total: 5_400,
  memory_process_bytes: 210_763_776,
  client_build: 0,
  ...NO_FALLBACK,
  validator_total: 4,
  validator_active: 4,
};

/**
 * Its metric of the execution client was removed in v7.1, and the push says false since. A second beacon node counts as
 * connected while it is synced, in use or not.
 */
const lighthouse: Pushed = { client_name: 'lighthouse', client_version: '8.0.1' };
export const LIGHTHOUSE = {
  node: [{ ...NODE, ...lighthouse }, SYSTEM],
  validator: [
    { ...VALIDATOR, ...lighthouse, sync_eth2_fallback_configured: true, sync_eth2_fallback_connected: true },
    SYSTEM,
  ],
} satisfies Bodies;

/** The execution client is connected where a URL is configured. No iowait, and a total without it. */
const lodestar: Pushed = { client_name: 'lodestar', client_version: '1.44.0/2d0938e', ...NO_FALLBACK };
const modes: Pushed = { cpu_node_system_seconds_total: 8_540_127, cpu_node_iowait_seconds_total: 0 };
const LODESTAR_SYSTEM: Pushed = { ...SYSTEM, ...modes };
const LODESTAR_BEACON: Pushed = {
  ...NODE,
  ...lodestar,
  network_libp2p_bytes_total_receive: 310_221_004_800,
  network_libp2p_bytes_total_transmit: 402_653_184_000,
  sync_eth1_connected: true,
  slasher_active: false,
};
export const LODESTAR = {
  node: [LODESTAR_BEACON, LODESTAR_SYSTEM],
  validator: [{ ...VALIDATOR, ...lodestar }, LODESTAR_SYSTEM],
  hoodi: [{ ...LODESTAR_BEACON, sync_beacon_head_slot: 4_046_354 }, LODESTAR_SYSTEM],
} satisfies Bodies;

/** Available memory as free, no caches, no operations of disks. The total has no irq, softirq and steal. */
const teku: Pushed = { client_name: 'teku', client_version: '26.7.1', ...NO_FALLBACK };
const TEKU_SYSTEM: Pushed = {
  ...SYSTEM,
  cpu_node_system_seconds_total: 8_598_443,
  memory_node_bytes_free: 16_138_805_248,
  memory_node_bytes_cached: 0,
  memory_node_bytes_buffers: 0,
  disk_node_reads_total: 0,
  disk_node_writes_total: 0,
};
const TEKU_BEACON: Pushed = { ...NODE, ...teku, disk_beaconchain_bytes_total: 0, slasher_active: false };
export const TEKU = {
  both: [{ ...VALIDATOR, ...teku }, TEKU_BEACON, TEKU_SYSTEM],
  node: [TEKU_BEACON, TEKU_SYSTEM],
  // Has no data directory of a beacon node, so no disk.
  validator: [
    { ...VALIDATOR, ...teku },
    { ...TEKU_SYSTEM, disk_node_bytes_total: 0, disk_node_bytes_free: 0 },
  ],
  // Still had the metric of the execution client.
  before: [{ ...TEKU_BEACON, client_version: '26.6.0', sync_eth1_connected: true }, TEKU_SYSTEM],
} satisfies Bodies;

/** One process, so equal memory and CPU in two records. The disk is the sum of all. The only true execution client. */
const grandine: Pushed = {
  client_name: 'Grandine',
  client_version: '2.0.0',
  client_build: 1_763_000_000,
  ...NO_FALLBACK,
  cpu_process_seconds_total: 412_004,
  memory_process_bytes: 6_100_254_720,
};
const GRANDINE_SYSTEM: Pushed = {
  ...SYSTEM,
  disk_node_bytes_total: 8_212_415_283_200,
  disk_node_bytes_free: 3_100_800_204_800,
  disk_node_reads_total: 0,
  disk_node_writes_total: 0,
};
const GRANDINE_BEACON: Pushed = { ...NODE, ...grandine, sync_eth1_connected: true, slasher_active: false };
const unmeasured: Pushed = { cpu_process_seconds_total: 0, memory_process_bytes: 0 };
export const GRANDINE = {
  // Without --metrics, and without keys.
  unmeasured: [
    { ...GRANDINE_BEACON, ...unmeasured, network_peers_connected: 0 },
    { ...VALIDATOR, ...grandine, ...unmeasured, validator_total: 0, validator_active: 0 },
    GRANDINE_SYSTEM,
  ],
} satisfies Bodies;

/** The standalone pusher: the total without irq, softirq and steal, disk I/O in milliseconds of one disk. */
const pusher: Pushed = { version: 2, exporter_version: 'beaconcha.in@d37a193', ...NO_FALLBACK };
const STANDALONE_SYSTEM: Pushed = {
  ...SYSTEM,
  version: 2,
  exporter_version: 'beaconcha.in@d37a193',
  cpu_node_system_seconds_total: 8_598_443,
  disk_node_io_seconds: 71_902_448,
};
const standalone: Pushed = { ...pusher, sync_eth1_connected: true, sync_eth2_synced: true, slasher_active: false };
/** Prysm: messages instead of bytes, and the label of its peers as version. */
const messages: Pushed = { network_libp2p_bytes_total_receive: 88_412_907 };
export const PRYSM: readonly Pushed[] = [
  { ...NODE, ...standalone, ...messages, client_name: 'prysm', client_version: 'Connected' },
  { ...VALIDATOR, ...pusher, client_name: 'prysm', client_version: 'v6.1.2' },
  STANDALONE_SYSTEM,
];
