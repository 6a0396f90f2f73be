// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Grafana's variables.
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { above, BAD, below, lineAt, PLAIN, words } from './look.ts';
import { type Column, graph, MACHINE_RATE, stat, table } from './panels.ts';
import {
  CPU_BUSY_NOW,
  cpuBusy,
  DISK_FREE_RATIO,
  HEAD_LAG,
  MACHINE,
  MEMORY_USED_RATIO,
  ofMachine,
  orZero,
  perSecond,
  SILENCE,
  SILENT_MACHINES,
} from './queries.ts';
import { dashboard, rebootMarks, watchedSlashingMarks } from './shell.ts';
import { threshold } from './thresholds.ts';

/** Of large fleets the charts show those worth a look. */
const MOST = 20;
const NAME = '{{machine}}';

const MACHINE_COLUMN: Column = {
  name: 'Machine',
  width: 180,
  link: {
    title: 'Look at this machine',
    url: '/d/beaconchain-machine?${datasource:queryparam}&${chain:queryparam}&var-machine=${__value.raw:percentencode}&${__url_time_range}',
  },
};

export function fleet(): Dashboard {
  const offline = threshold('machine_offline_seconds');
  return dashboard({
    uid: 'beaconchain-fleet',
    title: 'Staking fleet',
    description: 'All machines that report to beaconcha.in: which of them need a hand.',
    range: '6h',
    variables: ['chain', 'machines'],
    annotations: [...rebootMarks(), ...watchedSlashingMarks()],
    sections: [
      {
        title: '',
        panels: [
          stat({
            title: 'Machines',
            description: 'Machines known to the exporter: seen within machines.forget_after, expected ones included.',
            queries: [[`count(${ofMachine('beaconchain_machine_last_seen_timestamp_seconds')})`, '']],
          }),
          stat({
            title: 'Silent',
            description:
              'No record of any process within 10 minutes before the last successful sweep; where sweeps are rare, their interval on top. As the alert MachineOffline.',
            queries: [[orZero(SILENT_MACHINES), '']],
            steps: above(1, BAD),
          }),
          stat({
            title: 'Never seen',
            description: 'Names in machines.expected of which no record was found.',
            queries: [[orZero(`count(${ofMachine('beaconchain_machine_last_seen_timestamp_seconds')} == 0)`), '']],
            steps: above(1),
          }),
          stat({
            title: 'Disks almost full',
            description: 'Machines with less of the disk free than the alert DiskAlmostFull allows.',
            queries: [[orZero(`count(${DISK_FREE_RATIO} < ${threshold('disk_free_ratio')})`), '']],
            steps: above(1, BAD),
          }),
          stat({
            title: 'Nodes out of sync',
            description:
              'Beacon nodes that say that they are not synced, or whose head is behind the clock by more than the alert BeaconNodeLagging allows.',
            queries: [
              [
                orZero(
                  `count(${ofMachine('beaconchain_machine_synced')} == 0 or ${HEAD_LAG} > ${threshold('head_lag_slots')})`,
                ),
                '',
              ],
            ],
            steps: above(1, BAD),
          }),
          stat({
            title: 'Last sweep',
            description:
              'Time since the machines were last read. Values are never fetched for a scrape; with a scarce budget polls are hours apart.',
            unit: 's',
            decimals: 0,
            queries: [['time() - max(beaconchain_source_last_success_timestamp_seconds{source="machines"} > 0)', '']],
          }),
          table({
            title: 'Machines',
            description:
              'The silent first; a click on a name opens its dashboard. An empty cell is a value that the client does not report, or one that is too old to show.',
            height: 9,
            labels: { machine: MACHINE_COLUMN, chain: { name: 'Chain', width: 90 } },
            values: [
              [SILENCE, { name: 'Silent for', unit: 's', decimals: 0, steps: above(offline, BAD) }],
              [
                CPU_BUSY_NOW,
                {
                  name: 'CPU',
                  unit: 'percentunit',
                  decimals: 0,
                  gauge: true,
                  steps: above(threshold('cpu_busy_ratio')),
                },
              ],
              [
                MEMORY_USED_RATIO,
                {
                  name: 'Memory',
                  unit: 'percentunit',
                  decimals: 0,
                  gauge: true,
                  steps: above(threshold('memory_used_ratio')),
                },
              ],
              [
                `1 - ${DISK_FREE_RATIO}`,
                {
                  name: 'Disk',
                  unit: 'percentunit',
                  decimals: 0,
                  gauge: true,
                  steps: above(1 - threshold('disk_free_ratio'), BAD),
                },
              ],
              [ofMachine('beaconchain_machine_synced'), { name: 'Synced', mappings: words('yes', 'no') }],
              [HEAD_LAG, { name: 'Slots behind', decimals: 0, steps: above(threshold('head_lag_slots')) }],
              [ofMachine('beaconchain_machine_peers'), { name: 'Peers', steps: below(threshold('peers')) }],
              [ofMachine('beaconchain_machine_validators'), { name: 'Validators' }],
              [
                `time() - ${ofMachine('beaconchain_machine_boot_time_seconds')}`,
                { name: 'Up for', unit: 's', decimals: 0 },
              ],
            ],
            sortBy: 'Silent for',
          }),
        ],
      },
      {
        title: 'Load',
        panels: [
          graph({
            title: 'CPU in use',
            description: `Share of the CPU time that is not idle; the ${MOST} busiest. Clients that send no idle time (Teku) are left out. The line is the alert CPUBusy.`,
            unit: 'percentunit',
            ...MACHINE_RATE,
            softMax: 1,
            queries: [[`topk(${MOST}, ${cpuBusy()})`, NAME]],
            steps: lineAt(threshold('cpu_busy_ratio')),
          }),
          graph({
            title: 'Memory in use',
            description: `Without caches and buffers; the ${MOST} fullest. The line is the alert MemoryAlmostFull.`,
            unit: 'percentunit',
            min: 0,
            softMax: 1,
            queries: [[`topk(${MOST}, ${MEMORY_USED_RATIO})`, NAME]],
            steps: lineAt(threshold('memory_used_ratio')),
          }),
          graph({
            title: 'Disk free',
            description: `The ${MOST} fullest. The line is the alert DiskAlmostFull.`,
            unit: 'percentunit',
            min: 0,
            softMax: 1,
            queries: [[`bottomk(${MOST}, ${DISK_FREE_RATIO})`, NAME]],
            steps: lineAt(threshold('disk_free_ratio'), BAD),
          }),
          graph({
            title: 'Network, received',
            description: `Bytes per second over all interfaces; the ${MOST} busiest.`,
            unit: 'Bps',
            ...MACHINE_RATE,
            queries: [[`topk(${MOST}, ${perSecond('beaconchain_machine_network_receive_bytes_total')})`, NAME]],
          }),
        ],
      },
      {
        title: 'Beacon nodes',
        panels: [
          graph({
            title: 'Peers',
            description: `Connected peers; the ${MOST} with the fewest. The line is the alert FewPeers.`,
            min: 0,
            decimals: 0,
            queries: [[`bottomk(${MOST}, ${ofMachine('beaconchain_machine_peers')})`, NAME]],
            steps: lineAt(threshold('peers')),
          }),
          graph({
            title: 'Head behind the clock',
            description: `Slots, when the node wrote its record; the ${MOST} furthest behind. The line is the alert BeaconNodeLagging.`,
            min: 0,
            decimals: 0,
            softMax: threshold('head_lag_slots') + 2,
            queries: [[`topk(${MOST}, ${HEAD_LAG})`, NAME]],
            steps: lineAt(threshold('head_lag_slots')),
          }),
          graph({
            title: 'Silence',
            description: `Age of the newest record at the last successful sweep; held at an hour; the ${MOST} longest silent. The line is the alert MachineOffline.`,
            unit: 's',
            min: 0,
            queries: [[`topk(${MOST}, clamp_max(${SILENCE}, 3600))`, NAME]],
            steps: lineAt(offline, BAD),
          }),
          table({
            title: 'Clients',
            description: 'What runs where, as the clients say.',
            span: 12,
            labels: {
              machine: { ...MACHINE_COLUMN, width: 130 },
              process: { name: 'Process', width: 90 },
              client_name: { name: 'Client', width: 110 },
              client_version: { name: 'Version' },
            },
            values: [
              [
                `time() - max by (machine, process, client_name, client_version) (beaconchain_machine_last_seen_timestamp_seconds{${MACHINE}} * on (job, instance, chain, machine, process) group_left (client_name, client_version) beaconchain_machine_client_info{${MACHINE}})`,
                { name: 'Seen ago', unit: 's', decimals: 0, steps: PLAIN },
              ],
            ],
            sortBy: 'Seen ago',
          }),
        ],
      },
    ],
  });
}
