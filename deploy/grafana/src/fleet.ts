// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Grafana's variables.
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { firingAlerts } from './alerts.ts';
import { clients, MACHINE_COLUMN } from './clients.ts';
import { CPU_BUSY, DISK_FULL, FEW_PEERS, LAGGING, MEMORY_FULL, SILENT } from './limits.ts';
import { BAD, from } from './look.ts';
import { STATE, STATES } from './machine-state.ts';
import { graph, MACHINE_RATE, WHOLE } from './panels/graph.ts';
import { limitedStat, stat } from './panels/stat.ts';
import { table } from './panels/table.ts';
import { timeline } from './panels/timeline.ts';
import {
  CPU_BUSY_NOW,
  cpuBusy,
  DISK_FREE_RATIO,
  HEAD_LAG,
  leastOfMachine,
  MEMORY_USED_RATIO,
  ofMachine,
  orZero,
  perSecond,
  SILENCE,
  splitSilence,
} from './queries.ts';
import { dashboard, rebootMarks, type Section, watchedSlashingMarks } from './shell.ts';

/** For large fleets, the charts show only this many machines. */
const MOST = 20;
const NAME = '{{machine}}';
/** Alerts on exporters have no chain, and those on chains neither group nor machine. */
const CHOSEN = 'chain=~`|${chain:regex}`, group=~`|${group:regex}`, machine=~`|${machine:regex}`';
const CROWDED = { isCrowded: true } as const;
const GAUGE = { unit: 'percentunit', decimals: 0, width: 105, gauge: true } as const;

const now: Section = {
  title: '',
  panels: [
    stat({
      title: 'Machines',
      description: 'Machines seen within machines.forget_after, including expected machines.',
      history: true,
      queries: [[`count(${ofMachine('beaconchain_machine_last_seen_timestamp_seconds')})`, '']],
    }),
    stat({
      title: 'Machines with problems',
      description: 'Machines whose state below is not "healthy".',
      queries: [[orZero(`count((${STATE}) > 0)`), '']],
      steps: from(1, BAD),
    }),
    stat({
      title: 'Last sweep',
      description:
        'Time since the machines were last read. A scrape never causes a request. On a small plan, polls can be hours apart.',
      unit: 's',
      decimals: 0,
      queries: [['time() - max(beaconchain_source_last_success_timestamp_seconds{source="machines"} > 0)', '']],
    }),
    limitedStat({
      title: 'Longest silence',
      description: 'The longest time without a record, at the last successful sweep.',
      unit: 's',
      decimals: 0,
      isNamed: true,
      query: [`topk(1, ${SILENCE})`, NAME],
      limit: SILENT,
      parts: splitSilence(`topk(1, ${SILENCE})`),
    }),
    limitedStat({
      title: 'Least disk free',
      description: 'The fullest disk.',
      unit: 'percentunit',
      decimals: 0,
      isNamed: true,
      query: [`bottomk(1, ${DISK_FREE_RATIO})`, NAME],
      limit: DISK_FULL,
    }),
    limitedStat({
      title: 'Fewest peers',
      description: 'The beacon node with the fewest peers.',
      isNamed: true,
      query: [`bottomk(1, ${leastOfMachine('beaconchain_machine_peers')})`, NAME],
      limit: FEW_PEERS,
    }),
    firingAlerts({ more: CHOSEN }),
    timeline({
      title: 'State of the machines',
      description: 'The worst problem of each machine over time. Machines beyond the first 20 are on further pages.',
      queries: [[STATE, NAME]],
      mappings: STATES,
      interval: '2m',
      span: 12,
      height: 8,
    }),
    table({
      title: 'Machines',
      description:
        'The worst first. Click a name to open the dashboard of the machine. The state is its worst problem, under the conditions of the alerts but without their delay. An empty cell is a value that the client does not report, or a stale value.',
      height: 9,
      labels: { machine: MACHINE_COLUMN, chain: { name: 'Chain', width: 85 }, group: { name: 'Group', width: 80 } },
      values: [
        [STATE, { name: 'State', width: 150, mappings: STATES }],
        [SILENCE, { name: 'Silent for', unit: 's', decimals: 0, width: 90 }],
        [CPU_BUSY_NOW, { name: 'CPU', ...GAUGE }],
        [MEMORY_USED_RATIO, { name: 'Memory', ...GAUGE }],
        [`1 - ${DISK_FREE_RATIO}`, { name: 'Disk', ...GAUGE }],
        [HEAD_LAG, { name: 'Slots behind', decimals: 0, width: 105 }],
        [leastOfMachine('beaconchain_machine_peers'), { name: 'Peers', width: 65 }],
        [ofMachine('beaconchain_machine_validators'), { name: 'Validators', width: 90 }],
        [
          `time() - ${ofMachine('beaconchain_machine_boot_time_seconds')}`,
          { name: 'Up for', unit: 's', decimals: 0, width: 95 },
        ],
      ],
      sortBy: 'State',
    }),
  ],
};

const load: Section = {
  title: 'Load',
  panels: [
    graph({
      title: 'CPU in use',
      description: `Share of the CPU time that is not idle; the ${MOST} busiest at each time. Machines whose client reports no idle time (older Teku) are not shown.`,
      unit: 'percentunit',
      ...MACHINE_RATE,
      ...CROWDED,
      softMax: 1,
      queries: [[`topk(${MOST}, ${cpuBusy()})`, NAME]],
      limit: CPU_BUSY,
    }),
    graph({
      title: 'Memory in use',
      description: `Without caches and buffers; the ${MOST} fullest at each time.`,
      unit: 'percentunit',
      ...CROWDED,
      min: 0,
      softMax: 1,
      queries: [[`topk(${MOST}, ${MEMORY_USED_RATIO})`, NAME]],
      limit: MEMORY_FULL,
    }),
    graph({
      title: 'Disk free',
      description: `The ${MOST} fullest at each time.`,
      unit: 'percentunit',
      ...CROWDED,
      min: 0,
      softMax: 1,
      queries: [[`bottomk(${MOST}, ${DISK_FREE_RATIO})`, NAME]],
      limit: DISK_FULL,
    }),
    graph({
      title: 'Network, received',
      description: `Bytes per second over all interfaces; the ${MOST} busiest at each time.`,
      unit: 'Bps',
      ...MACHINE_RATE,
      ...CROWDED,
      queries: [[`topk(${MOST}, ${perSecond('beaconchain_machine_network_receive_bytes_total')})`, NAME]],
    }),
  ],
};

const nodes: Section = {
  title: 'Beacon nodes',
  panels: [
    graph({
      title: 'Peers',
      description: `Connected peers; the ${MOST} with the fewest at each time.`,
      ...CROWDED,
      ...WHOLE,
      queries: [[`bottomk(${MOST}, ${leastOfMachine('beaconchain_machine_peers')})`, NAME]],
      limit: FEW_PEERS,
    }),
    graph({
      title: 'Head behind the clock',
      description: `Slots, when the node wrote its record; the ${MOST} furthest behind at each time.`,
      unit: 'suffix:slots',
      ...CROWDED,
      ...WHOLE,
      queries: [[`topk(${MOST}, ${HEAD_LAG})`, NAME]],
      limit: LAGGING,
    }),
    graph({
      title: 'Silence',
      description: `Age of the newest record at the last successful sweep, on a logarithmic scale; the ${MOST} longest silent at each time.`,
      unit: 's',
      decimals: 0,
      span: 24,
      ...CROWDED,
      logarithmic: true,
      queries: [[`topk(${MOST}, clamp_min(${SILENCE}, 1))`, NAME]],
      limit: SILENT,
    }),
  ],
};

export function fleet(): Dashboard {
  return dashboard({
    uid: 'beaconchain-fleet',
    title: 'Staking fleet',
    description: 'All machines that report to beaconcha.in, and which of them need attention.',
    range: '6h',
    variables: ['chain', 'group', 'machines'],
    annotations: [...rebootMarks(), ...watchedSlashingMarks()],
    sections: [now, load, nodes, clients],
  });
}
