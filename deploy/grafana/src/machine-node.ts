import { BAD, lineAt, words } from './look.ts';
import { graph, table } from './panels.ts';
import { HEAD_LAG, MACHINE, ofMachine, ofProcess, processSilence } from './queries.ts';
import type { Section } from './shell.ts';
import { threshold } from './thresholds.ts';

const PROCESS = '{{process}}';

export const node: Section = {
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
