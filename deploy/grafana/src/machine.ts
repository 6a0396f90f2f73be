import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { above, BAD, below, graph, lineAt, stat, table, words } from './panels.ts';
import {
  cpuBusy,
  cpuShare,
  DISK_FREE_RATIO,
  HEAD_LAG,
  MACHINE,
  MEMORY_USED_BYTES,
  MEMORY_USED_RATIO,
  ofMachine,
  ofProcess,
  perSecond,
  perSecondOfProcess,
  processSilence,
  SILENCE,
} from './queries.ts';
import { dashboard, rebootMarks, type Section } from './shell.ts';
import { threshold } from './thresholds.ts';

const PROCESS = '{{process}}';
const INTERVAL = '5m';
const BRIDGE = 3 * 3_600_000;
const RATE = { min: 0, interval: INTERVAL, bridge: BRIDGE } as const;

const now: Section = {
  title: '',
  panels: [
    stat({
      title: 'Silent for',
      description: 'Age of the newest record of any process at the last successful sweep. As the alert MachineOffline.',
      unit: 's',
      decimals: 0,
      queries: [[SILENCE, '']],
      steps: above(threshold('machine_offline_seconds'), BAD),
    }),
    stat({
      title: 'Up for',
      description: 'Time since the last boot.',
      unit: 's',
      decimals: 0,
      queries: [[`time() - ${ofMachine('beaconchain_machine_boot_time_seconds')}`, '']],
    }),
    stat({
      title: 'CPU in use',
      description: 'Over 15 minutes. Clients that send no idle time (Teku) give none.',
      unit: 'percentunit',
      decimals: 0,
      queries: [[cpuBusy('15m'), '']],
      steps: above(threshold('cpu_busy_ratio')),
      noValue: 'not reported',
    }),
    stat({
      title: 'Memory in use',
      description: 'Without caches and buffers.',
      unit: 'percentunit',
      decimals: 0,
      queries: [[MEMORY_USED_RATIO, '']],
      steps: above(threshold('memory_used_ratio')),
    }),
    stat({
      title: 'Disk free',
      description: 'Of the file system that the client reports: / with most, its data with Teku.',
      unit: 'percentunit',
      decimals: 0,
      queries: [[DISK_FREE_RATIO, '']],
      steps: below(threshold('disk_free_ratio'), BAD),
    }),
    stat({
      title: 'Beacon node',
      description: 'Whether it says that it is synced. Prysm and Nimbus always say so: see how far its head is behind.',
      queries: [[ofMachine('beaconchain_machine_synced'), '']],
      mappings: words('synced', 'not synced'),
      noValue: 'none',
    }),
  ],
};

const load: Section = {
  title: 'Load',
  panels: [
    graph({
      title: 'CPU',
      description:
        'Share of the CPU time by what it is used for. Rest is the kernel, interrupts and what a hypervisor took. A client that sends no idle time has no rest.',
      unit: 'percentunit',
      ...RATE,
      softMax: 1,
      stacked: true,
      queries: [
        [cpuShare('user'), 'user'],
        [cpuShare('iowait'), 'waiting for I/O'],
        [`clamp_min(${cpuBusy()} - ${cpuShare('user')} - ${cpuShare('iowait')}, 0)`, 'rest'],
      ],
    }),
    graph({
      title: 'Memory',
      description: 'Of the host. Teku reports available memory as free and no caches.',
      unit: 'bytes',
      min: 0,
      stacked: true,
      queries: [
        [MEMORY_USED_BYTES, 'used'],
        [ofMachine('beaconchain_machine_memory_buffers_bytes'), 'buffers'],
        [ofMachine('beaconchain_machine_memory_cached_bytes'), 'cached'],
        [ofMachine('beaconchain_machine_memory_free_bytes'), 'free'],
      ],
      colors: { used: 'orange', buffers: 'blue', cached: 'light-blue', free: 'green' },
    }),
    graph({
      title: 'CPU of the processes',
      description: 'CPUs kept busy: 1 is one of them.',
      ...RATE,
      decimals: 2,
      queries: [[perSecondOfProcess('beaconchain_machine_process_cpu_seconds_total'), PROCESS]],
    }),
    graph({
      title: 'Memory of the processes',
      description: 'Resident memory; the sum of the JVM pools from Teku.',
      unit: 'bytes',
      min: 0,
      queries: [[ofProcess('beaconchain_machine_process_memory_bytes'), PROCESS]],
    }),
  ],
};

const disk: Section = {
  title: 'Disk and network',
  panels: [
    graph({
      title: 'Disk',
      description: 'Used and free space, and the database of the beacon node (0 from Teku and Nimbus).',
      unit: 'bytes',
      min: 0,
      queries: [
        [
          `${ofMachine('beaconchain_machine_disk_total_bytes')} - ${ofMachine('beaconchain_machine_disk_free_bytes')}`,
          'used',
        ],
        [ofMachine('beaconchain_machine_disk_free_bytes'), 'free'],
        [ofMachine('beaconchain_machine_beacon_database_bytes'), 'beacon database'],
      ],
      colors: { used: 'orange', free: 'green', 'beacon database': 'blue' },
    }),
    graph({
      title: 'Disk operations',
      description: 'Completed reads and writes per second; 0 from Teku.',
      unit: 'iops',
      ...RATE,
      queries: [
        [perSecond('beaconchain_machine_disk_reads_total'), 'reads'],
        [perSecond('beaconchain_machine_disk_writes_total'), 'writes'],
      ],
    }),
    graph({
      title: 'Network',
      description: 'Of all interfaces; of the first one from Lodestar.',
      unit: 'Bps',
      ...RATE,
      queries: [
        [perSecond('beaconchain_machine_network_receive_bytes_total'), 'received'],
        [perSecond('beaconchain_machine_network_transmit_bytes_total'), 'sent'],
      ],
    }),
    graph({
      title: 'Network, libp2p alone',
      description:
        'What the beacon node exchanges with its peers. 0 from Teku, Nimbus and some versions of Lighthouse; Prysm counts messages.',
      unit: 'Bps',
      ...RATE,
      queries: [
        [perSecond('beaconchain_machine_libp2p_receive_bytes_total', 'node'), 'received'],
        [perSecond('beaconchain_machine_libp2p_transmit_bytes_total', 'node'), 'sent'],
      ],
    }),
  ],
};

const node: Section = {
  title: 'Beacon node and processes',
  panels: [
    graph({
      title: 'Peers',
      description: 'The line is the alert FewPeers.',
      min: 0,
      decimals: 0,
      queries: [[ofMachine('beaconchain_machine_peers'), 'peers']],
      steps: lineAt(threshold('peers')),
    }),
    graph({
      title: 'Head behind the clock',
      description: 'Slots, when the node wrote its record. The line is the alert BeaconNodeLagging.',
      min: 0,
      decimals: 0,
      softMax: threshold('head_lag_slots') + 2,
      queries: [[HEAD_LAG, 'slots behind']],
      steps: lineAt(threshold('head_lag_slots')),
    }),
    graph({
      title: 'State',
      description: 'As the node says. A fallback in use means that the first choice does not serve.',
      min: 0,
      max: 1,
      held: true,
      mappings: words('yes', 'no'),
      decimals: 0,
      queries: [
        [ofMachine('beaconchain_machine_synced'), 'synced'],
        [ofMachine('beaconchain_machine_execution_connected'), 'execution client connected'],
        [ofMachine('beaconchain_machine_execution_fallback_connected'), 'execution fallback in use'],
        [ofProcess('beaconchain_machine_consensus_fallback_connected'), 'consensus fallback in use, {{process}}'],
      ],
    }),
    graph({
      title: 'Silence of the processes',
      description:
        'Age of the record of each process at the last successful sweep, held at an hour. The line is the alert ProcessSilent.',
      unit: 's',
      min: 0,
      softMax: 1.1 * threshold('machine_offline_seconds'),
      queries: [[`clamp_max(${processSilence()}, 3600)`, PROCESS]],
      steps: lineAt(threshold('machine_offline_seconds'), BAD),
    }),
    table({
      title: 'Clients',
      description: 'As the processes say.',
      span: 12,
      height: 5,
      labels: {
        process: { name: 'Process' },
        client_name: { name: 'Client' },
        client_version: { name: 'Version' },
        client_build: { name: 'Build' },
      },
      values: [
        [
          `max by (process, client_name, client_version, client_build) (beaconchain_machine_client_info{${MACHINE}})`,
          { name: 'Reports', mappings: words('yes', 'no') },
        ],
      ],
      sortBy: 'Process',
      ascending: true,
    }),
    table({
      title: 'Host',
      description: 'As the machine says.',
      span: 12,
      height: 5,
      labels: { os: { name: 'System' }, exporter_version: { name: 'Pushed by' } },
      values: [
        [
          `max by (os, exporter_version) (beaconchain_machine_info{${MACHINE}} * on (job, instance, chain, machine) group_left () beaconchain_machine_cpu_cores{${MACHINE}})`,
          { name: 'Cores' },
        ],
      ],
      sortBy: 'Cores',
    }),
  ],
};

export function machine(): Dashboard {
  return dashboard({
    uid: 'beaconchain-machine',
    title: 'Staking machine',
    description: 'One machine: load, disk, network, beacon node, and how fresh all that is.',
    range: '6h',
    variables: ['chain', 'machine'],
    annotations: rebootMarks(),
    sections: [now, load, disk, node],
  });
}
