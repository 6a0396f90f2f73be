// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Grafana's variables.
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { beyond, LOW_PARTICIPATION, NO_FINALITY, PROCESS_SILENT } from './limits.ts';
import { BAD, from, POOR, words } from './look.ts';
import { graph } from './panels/graph.ts';
import { stat } from './panels/stat.ts';
import { type Column, table } from './panels/table.ts';
import { grown, ofChain, ofMachine, ofMembers, ofProcess, ofWatched, orZero, processSilence } from './queries.ts';
import { dashboard, missedProposalMarks, rebootMarks, type Section, watchedSlashingMarks } from './shell.ts';

const NAME = '{{machine}}';
const NAME_OF_CHAIN = '{{chain}}';
const VALIDATOR_SILENCE = processSilence('process="validator"');
const LOADED = ofMachine('beaconchain_machine_validators');
const ACTIVE = ofMachine('beaconchain_machine_validators_active');

/** Columns of a table of validators. Each chain has its own explorer. */
const VALIDATOR: Readonly<Record<string, Column>> = {
  validator: { name: 'Validator' },
  chain: { name: 'Chain' },
  explorer: {
    name: 'Explorer',
    link: { title: 'The page of the validator', url: 'https://${__value.text}/validator/${__data.fields.Validator}' },
  },
};

const now: Section = {
  title: '',
  panels: [
    stat({
      title: 'Keys loaded',
      unit: 'none',
      description: 'Validator keys that the clients have loaded, on all chosen machines.',
      history: true,
      queries: [[`sum(${LOADED})`, '']],
    }),
    stat({
      title: 'Keys not active',
      unit: 'none',
      description:
        'Loaded and not active: locally enabled keys from Lighthouse, active on chain from Teku. Keys that wait for activation or have left count too. As the alert ValidatorsInactive.',
      queries: [[`sum(${LOADED} - ${ACTIVE})`, '']],
      steps: from(1, POOR),
    }),
    stat({
      title: 'Clients silent',
      unit: 'none',
      description: 'Validator processes without a record for longer than the alert ProcessSilent allows.',
      queries: [[orZero(`count(${beyond(VALIDATOR_SILENCE, PROCESS_SILENT)})`), '']],
      steps: from(1, BAD),
    }),
    stat({
      title: 'Watched',
      unit: 'none',
      description: 'Validators that slashings.watch names.',
      queries: [[`sum(${ofChain('watched_validators')})`, '']],
    }),
    stat({
      title: 'Watched, slashed',
      unit: 'none',
      description:
        'Of those, how many were seen slashed. For proposer offences only with slashings.proposer_names, because the specified API does not name the validators.',
      queries: [[`sum(${ofChain('watched_validators_slashed')})`, '']],
      steps: from(1, BAD),
    }),
    stat({
      title: 'Sync committee ends in',
      description: 'Time to the end of the current sync committee period.',
      unit: 's',
      decimals: 0,
      queries: [[`clamp_min(${ofChain('sync_committee_end_timestamp_seconds')} - time(), 0)`, '{{chain}}']],
    }),
    table({
      title: 'Watched validators that were slashed',
      description:
        'Empty as long as all is well. The series stays until the validator is taken out of slashings.watch. Stop every client that holds the key of one that is listed here.',
      height: 5,
      labels: VALIDATOR,
      values: [[ofWatched('slashed'), { name: 'Slashed at', unit: 'dateTimeAsIso' }]],
      sortBy: 'Slashed at',
      noValue: 'None: all is well',
    }),
    table({
      title: 'Watched validators in the sync committee',
      description:
        'Needs sync_committee.members. Do not restart the clients of a member without need: it loses a reward in each slot that it misses.',
      height: 5,
      labels: VALIDATOR,
      values: [
        [ofMembers('current'), { name: 'Member until', unit: 'dateTimeAsIso' }],
        [ofMembers('next'), { name: 'Member from', unit: 'dateTimeAsIso' }],
      ],
      sortBy: 'Validator',
      ascending: true,
      noValue: 'none',
    }),
  ],
};

/** An epoch is 6.4 minutes, and a validator proposes a few times a year. */
const PROPOSALS_INTERVAL = '1h';

const proposals: Section = {
  title: 'Proposals of watched validators',
  panels: [
    stat({
      title: 'Missed or orphaned',
      description:
        'In the time that is shown: slots without a block of the watched validator that was to propose it, and blocks that the chain did not keep. As the alert WatchedProposalMissed.',
      unit: 'none',
      decimals: 0,
      span: 6,
      height: 9,
      queries: [
        [
          `sum by (chain) (${grown('watched_proposals_total', '$__range', 'chain, status', 'status=~"missed|orphaned"')})`,
          NAME_OF_CHAIN,
        ],
      ],
      steps: from(0.5),
    }),
    graph({
      title: 'Proposals by outcome',
      description: 'New ones in each step, counted when their epoch is final, about 15 minutes after the slot.',
      unit: 'none',
      decimals: 0,
      min: 0,
      softMax: 2,
      span: 9,
      bars: true,
      stacked: true,
      interval: PROPOSALS_INTERVAL,
      queries: [[grown('watched_proposals_total', '$__rate_interval', 'chain, status'), '{{chain}}, {{status}}']],
      colors: { '.*, proposed': 'green', '.*, missed': BAD, '.*, orphaned': POOR },
    }),
    table({
      title: 'Validators that missed a proposal',
      description:
        'With the slot of the newest one, missed or orphaned; at most 100 validators for each chain. Empty as long as none was missed since counting began.',
      span: 9,
      height: 9,
      labels: VALIDATOR,
      values: [[ofWatched('missed_proposal'), { name: 'Last missed', unit: 'dateTimeFromNow', width: 110 }]],
      sortBy: 'Last missed',
      noValue: 'None: all is well',
    }),
  ],
};

const keys: Section = {
  title: 'Keys and clients',
  panels: [
    graph({
      title: 'Keys loaded',
      unit: 'none',
      description:
        'By machine. Keys that move between machines never run twice: a drop here comes before a rise there.',
      min: 0,
      decimals: 0,
      stacked: true,
      held: true,
      queries: [[LOADED, NAME]],
    }),
    graph({
      title: 'Keys not active',
      unit: 'none',
      description: 'By machine.',
      min: 0,
      softMax: 2,
      decimals: 0,
      held: true,
      queries: [[`${LOADED} - ${ACTIVE}`, NAME]],
    }),
    graph({
      title: 'Silence of the validator clients',
      description: 'Age of the record of the validator process at the last successful sweep, on a logarithmic scale.',
      unit: 's',
      decimals: 0,
      logarithmic: true,
      queries: [[`clamp_min(${VALIDATOR_SILENCE}, 1)`, NAME]],
      limit: PROCESS_SILENT,
    }),
    graph({
      title: 'Memory of the validator clients',
      description: 'Resident memory; the sum of the JVM pools from Teku.',
      unit: 'bytes',
      min: 0,
      queries: [[ofProcess('beaconchain_machine_process_memory_bytes', 'process="validator"'), NAME]],
    }),
  ],
};

const nodes: Section = {
  title: 'What they depend on',
  panels: [
    table({
      title: 'Endpoints',
      description:
        'What stands between the keys and the chain. What a client does not report counts as no; an empty cell has no node. A fallback in use means that the first choice does not serve; only Lighthouse and Lodestar report some of them.',
      labels: { machine: { name: 'Machine' }, chain: { name: 'Chain' } },
      values: [
        [ofMachine('beaconchain_machine_synced'), { name: 'Node synced', mappings: words('yes', 'no') }],
        [
          ofMachine('beaconchain_machine_execution_connected'),
          { name: 'Execution client', mappings: words('connected', 'gone') },
        ],
        [
          ofMachine('beaconchain_machine_consensus_fallback_configured'),
          { name: 'Fallback node', mappings: words('yes', 'no', 'neither') },
        ],
        [
          ofMachine('beaconchain_machine_consensus_fallback_connected'),
          { name: 'Node in use', mappings: words('yes', 'no', 'one') },
        ],
        [
          ofMachine('beaconchain_machine_execution_fallback_configured'),
          { name: 'Fallback execution', mappings: words('yes', 'no', 'neither') },
        ],
        [
          ofMachine('beaconchain_machine_execution_fallback_connected'),
          { name: 'Execution in use', mappings: words('yes', 'no', 'one') },
        ],
      ],
      sortBy: 'Machine',
      ascending: true,
    }),
    graph({
      title: 'Sync committee participation',
      description: 'Of the newest block: how much of the network votes.',
      unit: 'percentunit',
      max: 1,
      queries: [[ofChain('head_sync_participation_ratio'), '{{chain}}']],
      limit: LOW_PARTICIPATION,
    }),
    graph({
      title: 'Finality behind the head',
      description: 'Epochs; 2 to 3 is healthy.',
      unit: 'suffix:epochs',
      min: 0,
      decimals: 0,
      held: true,
      queries: [[`${ofChain('head_epoch')} - ${ofChain('finalized_epoch')}`, '{{chain}}']],
      limit: NO_FINALITY,
    }),
  ],
};

export function validators(): Dashboard {
  return dashboard({
    uid: 'beaconchain-validators',
    title: "Validators' health",
    description:
      'The keys, the clients that hold them, what these depend on, and whether a watched validator missed a proposal or was slashed.',
    range: '24h',
    variables: ['chain', 'machines'],
    annotations: [...watchedSlashingMarks(), ...missedProposalMarks(), ...rebootMarks()],
    sections: [now, proposals, keys, nodes],
  });
}
