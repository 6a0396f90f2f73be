import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { LOW_PARTICIPATION, MASS_SLASHING, MISSED_SLOTS, NO_FINALITY, SCAN_LAGGING } from './limits.ts';
import { graph, WHOLE } from './panels/graph.ts';
import { limitedStat, stat } from './panels/stat.ts';
import { CHAIN, grown, ofChain, perBlock, slotShare } from './queries.ts';
import { dashboard, type Section, slashingMarks } from './shell.ts';

const NAME = '{{chain}}';
/** Finalized epochs come every 6.4 minutes. */
const INTERVAL = '20m';
const FINALITY_LAG = `${ofChain('head_epoch')} - ${ofChain('finalized_epoch')}`;
const SCAN_LAG = `${ofChain('finalized_epoch')} - ${ofChain('scanned_epoch')}`;

const now: Section = {
  title: '',
  panels: [
    stat({
      title: 'Head slot',
      description: 'Newest slot with a canonical block at the last poll.',
      decimals: 0,
      queries: [[ofChain('head_slot'), NAME]],
    }),
    limitedStat({
      title: 'Finality behind the head',
      description: 'Epochs; 2 to 3 is healthy.',
      unit: 'suffix:epochs',
      history: true,
      query: [FINALITY_LAG, NAME],
      limit: NO_FINALITY,
    }),
    limitedStat({
      title: 'Sync participation',
      description: 'Share of the sync committee in the newest block.',
      unit: 'percentunit',
      decimals: 1,
      history: true,
      query: [ofChain('head_sync_participation_ratio'), NAME],
      limit: LOW_PARTICIPATION,
    }),
    limitedStat({
      title: 'Slashed in a day',
      description: 'Validators, for attester offences within the last 24 hours.',
      decimals: 0,
      query: [grown('attester_slashed_validators_total', '1d'), NAME],
      limit: MASS_SLASHING,
    }),
    stat({
      title: 'Last attester slashing',
      description: 'Time since the slot that included it.',
      unit: 's',
      decimals: 0,
      queries: [[`time() - ${ofChain('last_attester_slashing_timestamp_seconds')}`, NAME]],
      noValue: 'none seen',
    }),
    limitedStat({
      title: 'Epochs not yet counted',
      description: 'Finalized epochs that the exporter has not read yet.',
      history: true,
      query: [SCAN_LAG, NAME],
      limit: SCAN_LAGGING,
    }),
  ],
};

const slashings: Section = {
  title: 'Slashings',
  panels: [
    graph({
      title: 'Attester slashings',
      description: 'New slashings in each step, by kind. Each slashing counts once, when it is first seen.',
      ...WHOLE,
      bars: true,
      interval: INTERVAL,
      queries: [[grown('attester_slashings_total', '$__rate_interval', 'chain, kind'), '{{chain}}, {{kind}}']],
    }),
    graph({
      title: 'Proposer slashings',
      description:
        'New slashings in each step, at finality. Without validators.proposer_slashings, the log does not name the proposers.',
      ...WHOLE,
      softMax: 2,
      bars: true,
      interval: INTERVAL,
      queries: [[grown('proposer_slashings_total'), NAME]],
    }),
    graph({
      title: 'Validators slashed within a day',
      description: 'For attester offences.',
      ...WHOLE,
      queries: [[grown('attester_slashed_validators_total', '1d'), NAME]],
      limit: MASS_SLASHING,
    }),
    graph({
      title: 'Epochs not yet counted',
      description: 'Finalized epochs that the exporter has not read yet.',
      unit: 'suffix:epochs',
      ...WHOLE,
      held: true,
      queries: [[SCAN_LAG, NAME]],
      limit: SCAN_LAGGING,
    }),
  ],
};

const blocks: Section = {
  title: 'Slots and blocks',
  panels: [
    graph({
      title: 'Slots without a block',
      description: 'Share of the slots of finalized epochs.',
      unit: 'percentunit',
      min: 0,
      interval: INTERVAL,
      queries: [
        [slotShare('missed'), '{{chain}}, missed'],
        [slotShare('orphaned'), '{{chain}}, orphaned'],
      ],
      limit: MISSED_SLOTS,
    }),
    graph({
      title: 'Sync committee participation',
      description: 'Of the newest block.',
      unit: 'percentunit',
      max: 1,
      queries: [[ofChain('head_sync_participation_ratio'), NAME]],
      limit: LOW_PARTICIPATION,
    }),
    graph({
      title: 'Base fee',
      description: 'Of the newest block.',
      unit: 'suffix:gwei',
      min: 0,
      queries: [[`${ofChain('head_base_fee_wei')} / 1e9`, NAME]],
    }),
    graph({
      title: 'Gas used',
      description: 'Share of the gas limit used by the newest block. The target is 50 %.',
      unit: 'percentunit',
      min: 0,
      max: 1,
      queries: [[`${ofChain('head_gas_used')} / ${ofChain('head_gas_limit')}`, NAME]],
    }),
    graph({
      title: 'Transactions per block',
      description: 'Mean over the blocks of finalized epochs.',
      ...WHOLE,
      interval: INTERVAL,
      queries: [[perBlock('block_transactions_total'), NAME]],
    }),
    graph({
      title: 'Attestations per block',
      description: 'Mean over the blocks of finalized epochs.',
      min: 0,
      decimals: 1,
      interval: INTERVAL,
      queries: [[perBlock('block_attestations_total'), NAME]],
    }),
    graph({
      title: 'Deposits, exits and withdrawals per block',
      description:
        'Mean over the blocks of finalized epochs. Without deposits since Electra and exits that are requested on the execution layer: the service does not count them.',
      min: 0,
      interval: INTERVAL,
      queries: [
        [perBlock('block_deposits_total'), '{{chain}}, deposits'],
        [perBlock('block_voluntary_exits_total'), '{{chain}}, exits'],
        [perBlock('block_withdrawals_total'), '{{chain}}, withdrawals'],
      ],
    }),
    graph({
      title: 'Gas used per block',
      description: 'Mean over the blocks of finalized epochs.',
      unit: 'short',
      min: 0,
      interval: INTERVAL,
      queries: [[perBlock('block_gas_used_total'), NAME]],
    }),
  ],
};

const committee: Section = {
  title: 'Sync committee',
  panels: [
    stat({
      title: 'Period',
      description: 'Index of the current period: 256 epochs, about 27 hours.',
      decimals: 0,
      span: 8,
      queries: [[ofChain('sync_committee_period'), NAME]],
    }),
    stat({
      title: 'Epochs of the period',
      description: 'First and last.',
      decimals: 0,
      span: 8,
      queries: [
        [`max by (chain) (beaconchain_sync_committee_start_epoch{${CHAIN}})`, '{{chain}}, first'],
        [ofChain('sync_committee_end_epoch'), '{{chain}}, last'],
      ],
    }),
    stat({
      title: 'Ends in',
      description: 'Time to the end of the period.',
      unit: 's',
      decimals: 0,
      span: 8,
      queries: [[`clamp_min(${ofChain('sync_committee_end_timestamp_seconds')} - time(), 0)`, NAME]],
    }),
  ],
};

export function chain(): Dashboard {
  return dashboard({
    uid: 'beaconchain-chain',
    title: 'Chain and slashings',
    description: 'Head, finality and blocks of the chain, and every slashing, each counted once.',
    range: '24h',
    variables: ['chain', 'group'],
    annotations: slashingMarks(),
    sections: [now, slashings, blocks, committee],
  });
}
