import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { firingAlerts } from './alerts.ts';
import { CPU_BUSY, DISK_FULL, MEMORY_FULL, SILENT } from './limits.ts';
import { words } from './look.ts';
import { node } from './machine-node.ts';
import { STATE, STATES } from './machine-state.ts';
import { graph, MACHINE_RATE } from './panels/graph.ts';
import { limitedStat, stat } from './panels/stat.ts';
import { timeline } from './panels/timeline.ts';
import {
  CPU_BUSY_NOW,
  cpuBusy,
  cpuShare,
  DISK_FREE_RATIO,
  MACHINE,
  MEMORY_USED_BYTES,
  MEMORY_USED_RATIO,
  ofMachine,
  ofProcess,
  perSecond,
  perSecondOfProcess,
  SILENCE,
  SYNCED,
  splitSilence,
} from './queries.ts';
import { dashboard, rebootMarks, type Section } from './shell.ts';

const PROCESS = '{{process}}';

const now: Section = {
  title: '',
  panels: [
    limitedStat({
      title: 'Silent for',
      description: 'Age of the newest record of any process at the last successful sweep.',
      unit: 's',
      decimals: 0,
      query: [SILENCE, '{{chain}}'],
      limit: SILENT,
      parts: splitSilence(SILENCE),
    }),
    stat({
      title: 'Up for',
      description: 'Time since the last boot.',
      unit: 's',
      decimals: 0,
      queries: [[`time() - ${ofMachine('beaconchain_machine_boot_time_seconds')}`, '']],
    }),
    limitedStat({
      title: 'CPU in use',
      description:
        'Over 15 minutes, or over 6 hours if polls are rare. Not available if the client reports no idle time (older Teku).',
      unit: 'percentunit',
      decimals: 0,
      history: true,
      query: [CPU_BUSY_NOW, '{{chain}}'],
      limit: CPU_BUSY,
      noValue: 'not reported',
    }),
    limitedStat({
      title: 'Memory in use',
      description: 'Without caches and buffers.',
      unit: 'percentunit',
      decimals: 0,
      history: true,
      query: [MEMORY_USED_RATIO, '{{chain}}'],
      limit: MEMORY_FULL,
    }),
    limitedStat({
      title: 'Disk free',
      description:
        'Of the file system that the client reports: / for most clients, that of the data directory for Teku, all together for Grandine.',
      unit: 'percentunit',
      decimals: 0,
      history: true,
      query: [DISK_FREE_RATIO, '{{chain}}'],
      limit: DISK_FULL,
    }),
    stat({
      title: 'Beacon node',
      description:
        'Not synced: the node says so, and its head is too far behind. Through the standalone pusher Prysm and Nimbus never say so: check how far the head is behind.',
      queries: [[SYNCED, '']],
      mappings: words('synced', 'not synced'),
      noValue: 'none',
    }),
    firingAlerts({ subject: 'machine', more: MACHINE, height: 6 }),
    timeline({
      title: 'State',
      description:
        'The worst problem of the machine over time, under the conditions of the alerts but without their delay.',
      span: 12,
      height: 6,
      queries: [[STATE, '{{machine}}']],
      mappings: STATES,
    }),
  ],
};

const load: Section = {
  title: 'Load',
  panels: [
    graph({
      title: 'CPU',
      description:
        'Share of the CPU time by mode. Rest is kernel, interrupt and steal time, as far as the client counts them: Lodestar leaves out I/O wait, softirq and steal, Teku nice, irq, softirq and steal. Older versions of Teku report no idle time, so the rest is unknown.',
      unit: 'percentunit',
      ...MACHINE_RATE,
      softMax: 1,
      stacked: true,
      queries: [
        [cpuShare('user'), 'user'],
        [cpuShare('iowait'), 'waiting for I/O'],
        [
          `clamp_min(${cpuBusy()} - ${cpuShare('user')} - (${cpuShare('iowait')} or ${cpuShare('user')} * 0), 0)`,
          'rest',
        ],
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
      description: 'Number of CPUs in use: 1 is one full CPU. Grandine is one process that is shown twice.',
      unit: 'suffix:CPUs',
      ...MACHINE_RATE,
      decimals: 2,
      queries: [[perSecondOfProcess('beaconchain_machine_process_cpu_seconds_total'), PROCESS]],
    }),
    graph({
      title: 'Memory of the processes',
      description:
        'Resident memory; for Teku, the sum of the JVM memory pools. Grandine is one process that is shown twice.',
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
      description: 'Used and free space, and the size of the beacon node database (Teku and Nimbus report 0).',
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
      description: 'Completed reads and writes per second. Teku and Grandine report 0.',
      unit: 'iops',
      ...MACHINE_RATE,
      queries: [
        [perSecond('beaconchain_machine_disk_reads_total'), 'reads'],
        [perSecond('beaconchain_machine_disk_writes_total'), 'writes'],
      ],
    }),
    graph({
      title: 'Network',
      description:
        'All interfaces; for Lodestar, only the first one. In all counters, a gap without an outage can mean that two pushers take turns under one name.',
      unit: 'Bps',
      ...MACHINE_RATE,
      queries: [
        [perSecond('beaconchain_machine_network_receive_bytes_total'), 'received'],
        [perSecond('beaconchain_machine_network_transmit_bytes_total'), 'sent'],
      ],
    }),
    graph({
      title: 'Network, libp2p alone',
      description:
        'Traffic between the beacon node and its peers. Teku, Nimbus and some versions of Lighthouse report 0. Prysm reports messages instead of bytes, Grandine only requests and responses.',
      unit: 'Bps',
      ...MACHINE_RATE,
      queries: [
        [perSecond('beaconchain_machine_libp2p_receive_bytes_total', 'node'), 'received'],
        [perSecond('beaconchain_machine_libp2p_transmit_bytes_total', 'node'), 'sent'],
      ],
    }),
  ],
};

export function machine(): Dashboard {
  return dashboard({
    uid: 'beaconchain-machine',
    title: 'Staking machine',
    description: 'One machine: load, disk, network, beacon node, and the age of the data.',
    range: '6h',
    variables: ['chain', 'group', 'machine'],
    annotations: rebootMarks(),
    sections: [now, load, disk, node],
  });
}
