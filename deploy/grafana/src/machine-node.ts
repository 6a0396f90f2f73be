import { FEW_PEERS, LAGGING, PROCESS_SILENT } from './limits.ts';
import { BAD, GOOD, named, words } from './look.ts';
import { graph, WHOLE } from './panels/graph.ts';
import { table } from './panels/table.ts';
import { timeline } from './panels/timeline.ts';
import { HEAD_LAG, leastOfMachine, MACHINE, processSilence, SYNCED } from './queries.ts';
import type { Section } from './shell.ts';

const PROCESS = '{{process}}';

const NODE_STATES = named({ 1: { text: 'yes', color: GOOD }, 0: { text: 'no', color: BAD } });

export const node: Section = {
  title: 'Beacon node and processes',
  panels: [
    graph({
      title: 'Peers',
      description: 'Connected peers. Grandine reports 0 without --metrics.',
      ...WHOLE,
      queries: [[leastOfMachine('beaconchain_machine_peers'), 'peers']],
      limit: FEW_PEERS,
    }),
    graph({
      title: 'Head behind the clock',
      description: 'Slots, when the node wrote its record.',
      unit: 'suffix:slots',
      ...WHOLE,
      queries: [[HEAD_LAG, 'slots behind']],
      limit: LAGGING,
    }),
    timeline({
      title: 'Node status',
      description: 'Teku 26.7.1, Lighthouse 7.1 and newer versions do not report the execution client.',
      span: 12,
      height: 9,
      queries: [
        [SYNCED, 'synced'],
        [leastOfMachine('beaconchain_machine_execution_connected'), 'execution client'],
      ],
      mappings: NODE_STATES,
    }),
    graph({
      title: 'Silence of the processes',
      description: 'Age of the record of each process at the last successful sweep, on a logarithmic scale.',
      unit: 's',
      decimals: 0,
      logarithmic: true,
      queries: [[`clamp_min(${processSilence()}, 1)`, PROCESS]],
      limit: PROCESS_SILENT,
    }),
    table({
      title: 'Clients',
      description: 'As reported by the processes.',
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
      description: 'As reported by the machine.',
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
