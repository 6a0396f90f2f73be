import { CHAINS, type Chain, slotTime, USUAL_AGE } from '../../facts/chain.ts';
import { etherOf } from '../../facts/ether.ts';
import { groupLabel } from '../../facts/groups.ts';
import { type Watch, watches } from '../../facts/watch.ts';
import type { Family, Sample } from '../../toolkit/exposition/family.ts';
import { fresh, maxAge } from '../ages.ts';
import { family, sample } from '../families.ts';
import type { Timing } from '../read.ts';
import { type Slashed, slashedFamilies, validatorLabels } from '../slashed.ts';
import type { SlashingsOptions } from './options.ts';
import { earnedOf, isUnexpected, lastBlocks } from './own-blocks.ts';
import { KINDS, PAYMENTS, SLOT_STATUSES, type Slashings } from './state.ts';

const HEAD = 'of the newest canonical block of the latest epoch; polled, and withdrawn when stale';
const HEAD_FAMILIES = [
  ['slot', 'Slot', 'slot'],
  ['epoch', 'Epoch', 'epoch'],
  ['sync_participation_ratio', 'Sync aggregate participation', 'syncaggregate_participation'],
  ['base_fee_wei', 'Base fee per gas', 'exec_base_fee_per_gas'],
  ['gas_used', 'Gas used', 'exec_gas_used'],
  ['gas_limit', 'Gas limit', 'exec_gas_limit'],
  ['transactions', 'Transactions', 'exec_transactions_count'],
  ['execution_block', 'Execution block number', 'exec_block_number'],
] as const;
const FINAL = 'in canonical blocks of finalized epochs; each epoch counts once';

/** Only the samples of the head become stale. */
export function slashingFamilies(options: SlashingsOptions, state: Slashings, timing: Timing): Family[] {
  const { chain } = options;
  const { totals } = state;
  const head = shownHead(chain, state, timing);
  const one = (value: number | null | undefined): Sample[] => sample(chain, value);
  const timeOf = (slot: number | undefined): Sample[] => one(slot === undefined ? undefined : slotTime(chain, slot));
  return [
    family(
      'genesis_timestamp_seconds',
      'Genesis time, a constant; the slot at a time is (time - genesis) / 12',
      one(CHAINS[chain].genesis),
    ),
    ...HEAD_FAMILIES.map(([name, what, field]) =>
      family(
        `head_${name}`,
        `${what} ${HEAD}${name === field ? '' : ` (${field})`}`,
        sample(chain, head?.[field], {}, head?.until),
      ),
    ),
    family('finalized_epoch', 'Newest finalized epoch that the service reported', one(state.finalizedEpoch)),
    family(
      'scanned_epoch',
      'Newest counted epoch; beaconchain_finalized_epoch minus this is the lag',
      one(state.scannedEpoch),
    ),
    family(
      'skipped_epochs_total',
      'Finalized epochs that were not counted: the exporter stopped for longer than slashings.catch_up, could not read them for an hour, or lacked the budget',
      one(totals.skippedEpochs),
    ),
    family(
      'slots_total',
      'Slots of finalized epochs by status; each slot counts once',
      SLOT_STATUSES.flatMap((status) => sample(chain, totals.slots[status], { status })),
    ),
    family('block_attestations_total', `Attestations ${FINAL} (attestationscount)`, one(totals.attestations)),
    family(
      'block_deposits_total',
      `Deposits of the old deposit list ${FINAL}. Since Electra deposits come from the execution layer and do not count (depositscount)`,
      one(totals.deposits),
    ),
    family(
      'block_voluntary_exits_total',
      `Voluntary exits ${FINAL}. Exits from the execution layer do not count (voluntaryexitscount)`,
      one(totals.voluntaryExits),
    ),
    family('block_withdrawals_total', `Withdrawals ${FINAL} (withdrawalcount)`, one(totals.withdrawals)),
    family(
      'block_transactions_total',
      `Execution transactions ${FINAL} (exec_transactions_count)`,
      one(totals.transactions),
    ),
    family('block_gas_used_total', `Gas used ${FINAL} (exec_gas_used)`, one(totals.gasUsed)),
    family(
      'attester_slashings_total',
      'Attester slashings by kind; each counts once, when first seen in a canonical block, whatever a reorganisation drops',
      KINDS.flatMap((kind) => sample(chain, totals.attesterSlashings[kind], { kind })),
    ),
    family(
      'attester_slashed_validators_total',
      'Distinct validators in both lists of an attester slashing; an upper bound, because some may have been slashed before',
      one(totals.slashedValidators),
    ),
    family(
      'proposer_slashings_total',
      `Proposer slashings ${FINAL}. Only validators.proposer_slashings names the validators (proposerslashingscount)`,
      one(totals.proposerSlashings),
    ),
    family(
      'last_attester_slashing_timestamp_seconds',
      'Slot time of the newest block with an attester slashing; absent before the first',
      timeOf(state.lastAttesterSlashingSlot),
    ),
    family(
      'last_proposer_slashing_timestamp_seconds',
      'Slot time of the newest finalized block with a proposer slashing; absent before the first',
      timeOf(state.lastProposerSlashingSlot),
    ),
    ...watchedFamilies(options, state),
  ];
}

function watchedFamilies(options: SlashingsOptions, state: Slashings): Family[] {
  const { chain, watch, groups, countsSeats } = options;
  if (groups.length === 0) return [];
  const { watchedProposals, syncDuties } = state.totals;
  const duties = countsSeats ? (['participated', 'missed'] as const) : [];
  const missed = state.missedProposals.filter(([validator]) => watches(watch, validator));
  return [
    ...slashedFamilies(chain, groups, watchedSlashed(watch, state)),
    family(
      'watched_proposals_total',
      'Proposals of watched validators in finalized epochs by outcome; each counts once (proposer, status)',
      SLOT_STATUSES.flatMap((status) => sample(chain, watchedProposals[status], { status })),
    ),
    family(
      'watched_sync_committee_duties_total',
      'Sync committee seats of watched validators in canonical blocks of finalized epochs; each seat and block counts once (syncaggregate_bits)',
      duties.flatMap((status) => sample(chain, syncDuties[status], { status })),
    ),
    family(
      'watched_validator_missed_proposal_timestamp_seconds',
      'Slot time of the newest missed or orphaned proposal of a watched validator. Only the 100 newest per chain',
      missed.flatMap(([validator, slot]) => sample(chain, slotTime(chain, slot), validatorLabels(groups, validator))),
    ),
    ...blockFamilies(options, state),
  ];
}

function blockFamilies(options: SlashingsOptions, state: Slashings): Family[] {
  const { chain, groups, readsOwnBlocks } = options;
  const shown = readsOwnBlocks ? groups : [];
  const unexpected = readsOwnBlocks ? lastBlocks(options, state).filter((block) => isUnexpected(options, block)) : [];
  // The newest of each validator.
  const newest = new Map(unexpected.map(({ validator, slot }) => [validator, slot]));
  return [
    family(
      'watched_block_rewards_ether_total',
      'What finalized blocks of watched validators earned on the execution layer: mev, paid by the builder, or fees, if the proposer built the block (mev.amount, priority_fees.amount)',
      shown.flatMap(({ group }) =>
        PAYMENTS.flatMap((kind) =>
          sample(chain, etherOf(earnedOf(state.ownBlocks, group ?? '')[kind]), { ...groupLabel(group), kind }),
        ),
      ),
    ),
    family(
      'watched_blocks_unread_total',
      'Blocks of watched validators whose earnings could not be read in an hour of attempts',
      sample(chain, readsOwnBlocks ? state.ownBlocks.unread : undefined),
    ),
    family(
      'watched_validator_unexpected_fee_recipient_timestamp_seconds',
      'Slot time of the newest block of a watched validator that paid an address outside validators.fee_recipients. Of the 100 newest blocks per chain, by the current list (recipient.address)',
      [...newest].flatMap(([validator, slot]) =>
        sample(chain, slotTime(chain, slot), validatorLabels(groups, validator)),
      ),
    ),
  ];
}

/** The slashed watched validators. The first slot with evidence wins over the status. */
export function watchedSlashed(watch: Watch, { slashed, proposerSlashed, slashedByStatus }: Slashings): Slashed[] {
  const isWatched = (validator: number): boolean => watches(watch, validator);
  const reported = slashedByStatus.filter(({ validator }) => isWatched(validator));
  const all = new Map(reported.map((one) => [one.validator, one]));
  // By index: a slashing can have 131,072 entries.
  const evidence = [...slashed, ...proposerSlashed].filter((entry) => isWatched(entry[0]));
  // In descending order, so that the first slot stays.
  for (const [validator, slot] of evidence.sort(([, a], [, b]) => b - a))
    all.set(validator, { ...all.get(validator), validator, slot });
  return [...all.values()].sort((a, b) => a.validator - b.validator);
}

export function shownHead(chain: Chain, { head }: Slashings, timing: Timing) {
  const dated = head && { ...head, at: slotTime(chain, head.slot) * 1000 };
  return fresh(dated, maxAge(USUAL_AGE.head, timing.of('head') ?? 0), timing.now);
}
