import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { above, BAD, below, lineAt } from './look.ts';
import { graph, RATE_STEP, stat } from './panels.ts';
import { CHAIN, grown, ofChain, perBlock, slotShare } from './queries.ts';
import { dashboard, type Section, slashingMarks } from './shell.ts';
import { threshold } from './thresholds.ts';

const NAME = '{{chain}}';
/** Finalized epochs come every 6.4 minutes. */
const INTERVAL = '20m';

const now: Section = {
  title: '',
  panels: [
    stat({
      title: 'Head slot',
      description: 'Newest slot with a canonical block at the last poll.',
      decimals: 0,
      unit: 'none',
      queries: [[ofChain('head_slot'), NAME]],
    }),
    stat({
      title: 'Finality behind the head',
      description: 'Epochs; 2 to 3 is healthy. As the alert NoFinality.',
      queries: [[`${ofChain('head_epoch')} - ${ofChain('finalized_epoch')}`, NAME]],
      steps: above(threshold('finality_lag_epochs') + 1, BAD),
    }),
    stat({
      title: 'Sync participation',
      description: 'Share of the sync committee in the newest block. As the alert SyncParticipationLow.',
      unit: 'percentunit',
      decimals: 1,
      queries: [[ofChain('head_sync_participation_ratio'), NAME]],
      steps: below(threshold('sync_participation_ratio')),
    }),
    stat({
      title: 'Validators slashed',
      description: 'For attester offences in the time that is shown, each validator once.',
      decimals: 0,
      queries: [[grown('attester_slashed_validators_total', '$__range'), NAME]],
      steps: above(threshold('mass_slashing_validators')),
    }),
    stat({
      title: 'Last attester slashing',
      description: 'Time since the slot that included it.',
      unit: 's',
      decimals: 0,
      queries: [[`time() - ${ofChain('last_attester_slashing_timestamp_seconds')}`, NAME]],
      noValue: 'none seen',
    }),
    stat({
      title: 'Epochs not yet counted',
      description: 'Finalized, but not yet searched for slashings. As the alert SlashingScanLagging.',
      queries: [[`${ofChain('finalized_epoch')} - ${ofChain('scanned_epoch')}`, NAME]],
      steps: above(threshold('scan_lag_epochs')),
    }),
  ],
};

const slashings: Section = {
  title: 'Slashings',
  panels: [
    graph({
      title: 'Attester slashings',
      description: 'New ones in each step, by kind. Each slashing is counted once, when it is first seen.',
      decimals: 0,
      min: 0,
      bars: true,
      stacked: true,
      interval: INTERVAL,
      queries: [[grown('attester_slashings_total', '$__rate_interval', 'chain, kind'), '{{chain}}, {{kind}}']],
    }),
    graph({
      title: 'Proposer slashings',
      description:
        'New ones in each step, at finality. The specified API gives their number only; with slashings.proposer_names the exporter knows the validators.',
      decimals: 0,
      min: 0,
      softMax: 2,
      bars: true,
      stacked: true,
      interval: INTERVAL,
      queries: [[grown('proposer_slashings_total'), NAME]],
    }),
    graph({
      title: 'Validators slashed within a day',
      description: 'For attester offences. The line is the alert MassSlashing.',
      decimals: 0,
      min: 0,
      softMax: 1.1 * threshold('mass_slashing_validators'),
      queries: [[grown('attester_slashed_validators_total', '1d'), NAME]],
      steps: lineAt(threshold('mass_slashing_validators')),
    }),
    graph({
      title: 'Search for slashings',
      description:
        'Finalized epochs not yet counted, and those given up after a long stop or because of a scarce budget. The line is the alert SlashingScanLagging.',
      decimals: 0,
      min: 0,
      interval: RATE_STEP,
      softMax: threshold('scan_lag_epochs') + 1,
      queries: [
        [`${ofChain('finalized_epoch')} - ${ofChain('scanned_epoch')}`, '{{chain}}, to be counted'],
        [grown('skipped_epochs_total'), '{{chain}}, given up'],
      ],
      steps: lineAt(threshold('scan_lag_epochs')),
    }),
  ],
};

const blocks: Section = {
  title: 'Slots and blocks',
  panels: [
    graph({
      title: 'Slots without a block',
      description: 'Share of the slots of finalized epochs. The line is the alert ManyMissedSlots.',
      unit: 'percentunit',
      min: 0,
      interval: INTERVAL,
      queries: [
        [slotShare('missed'), '{{chain}}, missed'],
        [slotShare('orphaned'), '{{chain}}, orphaned'],
      ],
      softMax: 1.1 * threshold('missed_slots_ratio'),
      steps: lineAt(threshold('missed_slots_ratio')),
    }),
    graph({
      title: 'Sync committee participation',
      description: 'Of the newest block. The line is the alert SyncParticipationLow.',
      unit: 'percentunit',
      max: 1,
      queries: [[ofChain('head_sync_participation_ratio'), NAME]],
      steps: lineAt(threshold('sync_participation_ratio')),
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
      description: 'Share of the limit, in the newest block. Half is the target.',
      unit: 'percentunit',
      min: 0,
      max: 1,
      queries: [[`${ofChain('head_gas_used')} / ${ofChain('head_gas_limit')}`, NAME]],
    }),
    graph({
      title: 'Transactions per block',
      description: 'Mean over the blocks of finalized epochs.',
      min: 0,
      decimals: 0,
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
      description: 'Mean over the blocks of finalized epochs.',
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
      unit: 'none',
      span: 8,
      queries: [[ofChain('sync_committee_period'), NAME]],
    }),
    stat({
      title: 'Epochs of the period',
      description: 'First and last.',
      decimals: 0,
      unit: 'none',
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
      queries: [[`${ofChain('sync_committee_end_timestamp_seconds')} - time()`, NAME]],
    }),
  ],
};

export function chain(): Dashboard {
  return dashboard({
    uid: 'beaconchain-chain',
    title: 'Chain and slashings',
    description: 'Head, finality and blocks of the chain, and every slashing, each counted once.',
    range: '24h',
    variables: ['chain'],
    annotations: slashingMarks(),
    sections: [now, slashings, blocks, committee],
  });
}
