// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Grafana's variables.
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { besideNetwork } from './beside-network.ts';
import { everyEpoch } from './every-epoch.ts';
import { income } from './income.ts';
import { PROCESS_SILENT, silentTooLong } from './limits.ts';
import { BAD, from, POOR, words } from './look.ts';
import { graph, WHOLE } from './panels/graph.ts';
import { stat } from './panels/stat.ts';
import { type Column, table } from './panels/table.ts';
import {
  GROUP,
  grown,
  leastOfMachine,
  ofChain,
  ofGroup,
  ofMachine,
  ofMembers,
  ofProcess,
  ofWatched,
  orZero,
  processSilence,
  processSilenceOfRemaining,
  SYNCED,
  withWhose,
} from './queries.ts';
import { dashboard, missedProposalMarks, rebootMarks, type Section, watchedSlashingMarks } from './shell.ts';

const NAME = '{{machine}}';
const NAME_OF_CHAIN = '{{chain}}';
const VALIDATOR_SILENCE = processSilence('process="validator"');
const SILENT_CLIENTS = `count by (chain, machine) (${silentTooLong(processSilenceOfRemaining('process="validator"'))})`;
const LOADED = ofMachine('beaconchain_machine_validators');
const ACTIVE = ofMachine('beaconchain_machine_validators_active');

/** Columns of a table of validators. Each chain has its own explorer. */
const VALIDATOR: Readonly<Record<string, Column>> = {
  validator: { name: 'Validator' },
  chain: { name: 'Chain', width: 85 },
  group: { name: 'Group', width: 85 },
  explorer: {
    name: 'Explorer',
    width: 165,
    link: {
      title: 'Open the validator in the explorer',
      url: 'https://${__value.text}/validator/${__data.fields.Validator}',
    },
  },
};

const now: Section = {
  title: '',
  panels: [
    stat({
      title: 'Keys loaded',
      description: 'Validator keys that the clients have loaded, on all chosen machines.',
      history: true,
      queries: [[`sum(${LOADED})`, '']],
    }),
    stat({
      title: 'Keys not active',
      description:
        'Keys that are loaded but not active, as in the alert BeaconchainValidatorsInactive. Lighthouse reports keys that are enabled locally, Teku keys that are active on chain. Includes keys that wait for activation or have exited.',
      queries: [[`sum(${LOADED} - ${ACTIVE})`, '']],
      steps: from(1, POOR),
    }),
    stat({
      title: 'Clients silent',
      description: 'Validator processes without a record for longer than the alert BeaconchainProcessSilent allows.',
      queries: [[orZero(`count(${SILENT_CLIENTS})`), '']],
      steps: from(1, BAD),
    }),
    stat({
      title: 'Watched',
      description: 'Number of validators in validators.watch and in the groups.',
      queries: [[`sum(${ofGroup('watched_validators')})`, '']],
    }),
    stat({
      title: 'Watched, slashed',
      description:
        'Number of watched validators that were slashed. Includes proposer slashings only with validators.proposer_slashings or validators.status.',
      queries: [[`sum(${ofGroup('watched_validators_slashed')})`, '']],
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
        'Only those with a known time of slashing. A validator is listed until it is no longer watched. After a new slashing, stop every client that holds the key.',
      height: 5,
      labels: VALIDATOR,
      values: [[ofWatched('slashed'), { name: 'Slashed at', unit: 'dateTimeAsIso' }]],
      sortBy: 'Slashed at',
      noValue: 'none',
    }),
    table({
      title: 'Watched validators in the sync committee',
      description:
        'Do not restart the clients of a member unless necessary: it loses a reward in each slot that it misses.',
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

const status: Section = {
  title: 'Status of watched validators',
  panels: [
    stat({
      title: 'Watched, offline',
      span: 4,
      height: 9,
      description:
        'Number of watched validators that the service reports as offline: without an attestation for two epochs. The alert BeaconchainValidatorOffline waits for a second such answer.',
      queries: [[`sum(${ofGroup('watched_validators_offline')})`, '']],
      steps: from(1, BAD),
    }),
    table({
      title: 'Watched validators that are offline',
      description:
        'With the epoch in which each was first seen offline; at most 100 validators per chain, the longest first. Empty if none is offline.',
      span: 8,
      height: 9,
      labels: VALIDATOR,
      values: [[ofWatched('offline_since'), { name: 'Offline since', unit: 'dateTimeAsIso' }]],
      sortBy: 'Offline since',
      ascending: true,
      noValue: 'None: all is well',
    }),
    graph({
      title: 'Online and offline',
      description:
        'Watched validators with and without an attestation in the last two epochs, as reported by the service. Validators without duties are neither online nor offline.',
      ...WHOLE,
      span: 6,
      held: true,
      queries: [
        [withWhose(ofGroup('watched_validators_online')), '{{whose}}, online'],
        [withWhose(ofGroup('watched_validators_offline')), '{{whose}}, offline'],
      ],
      colors: { '.*, online': 'green', '.*, offline': BAD },
    }),
    graph({
      title: 'By status',
      description: 'Watched validators. not_found: the service does not know them.',
      ...WHOLE,
      span: 6,
      stacked: true,
      held: true,
      queries: [[withWhose(`${ofGroup('watched_validators_by_status', 'status')} > 0`), '{{whose}}, {{status}}']],
    }),
    table({
      title: 'Leaving validators',
      description:
        'Those that leave or have left, until their balance is withdrawn; at most 100 per chain, the one whose next step comes first.',
      span: 12,
      height: 9,
      labels: VALIDATOR,
      values: [
        [ofWatched('exit'), { name: 'Exit', unit: 'dateTimeAsIso' }],
        [ofWatched('withdrawable'), { name: 'Can be withdrawn', unit: 'dateTimeAsIso' }],
      ],
      sortBy: 'Can be withdrawn',
      ascending: true,
      noValue: 'none',
    }),
    graph({
      title: 'Withdrawal credentials',
      description:
        'Watched validators by type: 0x00 without a withdrawal address, 0x01 with one, 0x02 compounding. A change that you did not sign is the alert BeaconchainCredentialsChanged.',
      ...WHOLE,
      stacked: true,
      held: true,
      queries: [[withWhose(`${ofGroup('watched_validators_by_credentials', 'type')} > 0`), '{{whose}}, {{type}}']],
    }),
    graph({
      title: 'Balance',
      description: 'Sum of the balances of the watched validators, and of their effective balances.',
      unit: 'suffix:ETH',
      held: true,
      queries: [
        [withWhose(ofGroup('watched_validators_balance_ether')), '{{whose}}'],
        [withWhose(ofGroup('watched_validators_effective_balance_ether')), '{{whose}}, effective'],
      ],
    }),
    graph({
      title: 'BeaconScore',
      description: 'By beaconcha.in, over the last 24 hours, weighted by duties. Empty without such a duty.',
      unit: 'percentunit',
      max: 1,
      held: true,
      queries: [[withWhose(ofGroup('watched_validators_score_ratio', 'duty')), '{{whose}}, {{duty}}']],
    }),
    graph({
      title: 'Duties missed in 24 hours',
      description: 'Sums over the last 24 hours: they fall when a miss is a day old.',
      ...WHOLE,
      softMax: 2,
      held: true,
      queries: [[withWhose(ofGroup('watched_validators_duties', 'duty', 'status="missed"')), '{{whose}}, {{duty}}']],
    }),
    graph({
      title: 'Seats in the sync committee',
      description:
        'New seats of watched validators of all groups in each step, at finality: one for each canonical block. Empty while none is a member.',
      ...WHOLE,
      bars: true,
      interval: '1h',
      queries: [
        [grown('watched_sync_committee_duties_total', '$__rate_interval', 'chain, status'), '{{chain}}, {{status}}'],
      ],
      colors: { '.*, participated': 'green', '.*, missed': BAD },
    }),
  ],
};

/** An epoch is 6.4 minutes, and a validator proposes a few times a year. */
const PROPOSALS_INTERVAL = '1h';

const EARNED_BY_BLOCKS = `max by (chain, group, kind) (increase(beaconchain_watched_block_rewards_ether_total{${GROUP}}[$__rate_interval]))`;

const proposals: Section = {
  title: 'Proposals of watched validators',
  panels: [
    stat({
      title: 'Missed or orphaned',
      description:
        'Proposals of watched validators of all groups in the selected time range that have no block in the chain (missed), or whose block is not canonical (orphaned), as in the alert BeaconchainWatchedProposalMissed.',
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
      description:
        'New proposals of all groups in each step. They are counted when their epoch is final, about 15 minutes after the slot.',
      ...WHOLE,
      softMax: 2,
      span: 8,
      bars: true,
      interval: PROPOSALS_INTERVAL,
      queries: [[grown('watched_proposals_total', '$__rate_interval', 'chain, status'), '{{chain}}, {{status}}']],
      colors: { '.*, proposed': 'green', '.*, missed': BAD, '.*, orphaned': POOR },
    }),
    table({
      title: 'Validators that missed a proposal',
      description:
        'With the time of the newest missed or orphaned proposal; at most 100 validators per chain. Empty if no proposal was missed since counting started.',
      span: 10,
      height: 9,
      labels: VALIDATOR,
      values: [[ofWatched('missed_proposal'), { name: 'Last missed', unit: 'dateTimeFromNow', width: 110 }]],
      sortBy: 'Last missed',
      noValue: 'None: all is well',
    }),
    graph({
      title: 'Earned by blocks',
      description:
        'On the execution layer, in each step: mev from the builder, or the fees where the proposer built the block. Counted when the epoch is final.',
      unit: 'suffix:ETH',
      min: 0,
      bars: true,
      interval: PROPOSALS_INTERVAL,
      queries: [[withWhose(EARNED_BY_BLOCKS), '{{whose}}, {{kind}}']],
    }),
    table({
      title: 'Blocks that paid an unexpected address',
      description:
        'With the newest such block of each validator, as in the alert BeaconchainFeeRecipientUnexpected. Empty without validators.fee_recipients.',
      span: 12,
      height: 9,
      labels: VALIDATOR,
      values: [[ofWatched('unexpected_fee_recipient'), { name: 'Block of', unit: 'dateTimeAsIso' }]],
      sortBy: 'Block of',
      noValue: 'none',
    }),
  ],
};

const keys: Section = {
  title: 'Keys and clients',
  panels: [
    graph({
      title: 'Keys loaded',
      description:
        'By machine. When you move keys to another machine, the drop must come before the rise: keys must never run twice.',
      ...WHOLE,
      stacked: true,
      held: true,
      queries: [[LOADED, NAME]],
    }),
    graph({
      title: 'Keys not active',
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
      description: 'Resident memory; for Teku, the sum of the JVM memory pools.',
      unit: 'bytes',
      min: 0,
      queries: [[ofProcess('beaconchain_machine_process_memory_bytes', 'process="validator"'), NAME]],
    }),
  ],
};

const nodes: Section = {
  title: 'Dependencies',
  panels: [
    table({
      title: 'Endpoints',
      description:
        'The endpoints that connect the keys to the chain. Values that a client does not report are shown as no. An empty cell means that there is no node. Only Lighthouse reports a fallback node, only Lodestar and Grandine a fallback for execution.',
      labels: { machine: { name: 'Machine' }, chain: { name: 'Chain' } },
      values: [
        [SYNCED, { name: 'Node synced', mappings: words('yes', 'no') }],
        [
          leastOfMachine('beaconchain_machine_execution_connected'),
          { name: 'Execution client', mappings: words('connected', 'gone') },
        ],
        [
          ofMachine('beaconchain_machine_consensus_fallback_configured'),
          { name: 'Fallback node', mappings: words('yes', 'no', 'neither') },
        ],
        [
          ofMachine('beaconchain_machine_consensus_fallback_connected'),
          { name: 'Fallback synced', mappings: words('yes', 'no', 'neither') },
        ],
        [
          ofMachine('beaconchain_machine_execution_fallback_configured'),
          { name: 'Fallback execution', mappings: words('yes', 'no', 'neither') },
        ],
      ],
      sortBy: 'Machine',
      ascending: true,
    }),
  ],
};

export function validators(): Dashboard {
  return dashboard({
    uid: 'beaconchain-validators',
    title: "Validators' health",
    description:
      'Validator keys, the clients that hold them, their dependencies, and status, duties, rewards, missed proposals and slashings of watched validators.',
    range: '24h',
    variables: ['chain', 'group', 'machines'],
    annotations: [...watchedSlashingMarks(), ...missedProposalMarks(), ...rebootMarks()],
    sections: [now, status, income, everyEpoch, besideNetwork, proposals, keys, nodes],
  });
}
