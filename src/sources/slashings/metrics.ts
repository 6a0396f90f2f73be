import { CHAINS, slotTime } from '../../facts/chain.ts';
import { type Watch, watches } from '../../facts/watch.ts';
import type { Family, Sample } from '../../toolkit/exposition/family.ts';
import { MS_PER_MINUTE } from '../../toolkit/lib/duration.ts';
import type { Milliseconds, UnixMs } from '../../toolkit/lib/time.ts';
import { family, fresh, nextShownChange, sample } from '../families.ts';
import { type Slashed, slashedFamilies, validatorLabels } from '../slashed.ts';
import type { Timing } from '../source.ts';
import type { SlashingsOptions } from './options.ts';
import { type Head, KINDS, SLOT_STATUSES, type Slashings } from './schema.ts';

const MIN_HEAD_STALE_MS = 10 * MS_PER_MINUTE;
const HEAD = 'of the newest canonical block of the latest epoch; polled, and withdrawn when stale';
const FINAL = 'in canonical blocks of finalized epochs; each epoch counts once';

/**
 * Every family of the source for one chain, with the samples that are to be shown at `timing.now`. Only those of the
 * head become stale.
 */
export function slashingFamilies(options: SlashingsOptions, state: Slashings, timing: Timing): Family[] {
  const { chain } = options;
  const { totals } = state;
  const head = shownHead(state, timing);
  const one = (value: number | null | undefined): Sample[] => sample(chain, value);
  const timeOf = (slot: number | undefined): Sample[] => one(slot === undefined ? undefined : slotTime(chain, slot));
  return [
    family(
      'genesis_timestamp_seconds',
      'Genesis time of the chain, a constant; the slot at a given time is (time - genesis) / 12',
      one(CHAINS[chain].genesis),
    ),
    family('head_slot', `Slot ${HEAD}`, one(head?.slot)),
    family('head_epoch', `Epoch ${HEAD}`, one(head?.epoch)),
    family(
      'head_sync_participation_ratio',
      `Sync aggregate participation ${HEAD} (syncaggregate_participation)`,
      one(head?.syncaggregate_participation),
    ),
    family('head_base_fee_wei', `Base fee per gas ${HEAD} (exec_base_fee_per_gas)`, one(head?.exec_base_fee_per_gas)),
    family('head_gas_used', `Gas used ${HEAD} (exec_gas_used)`, one(head?.exec_gas_used)),
    family('head_gas_limit', `Gas limit ${HEAD} (exec_gas_limit)`, one(head?.exec_gas_limit)),
    family('head_transactions', `Transactions ${HEAD} (exec_transactions_count)`, one(head?.exec_transactions_count)),
    family('head_execution_block', `Execution block number ${HEAD} (exec_block_number)`, one(head?.exec_block_number)),
    family(
      'finalized_epoch',
      'Newest finalized epoch as last reported by the API; contradictory responses are ignored',
      one(state.finalizedEpoch),
    ),
    family(
      'scanned_epoch',
      'Newest finalized epoch that has been counted; beaconchain_finalized_epoch minus this value is the lag',
      one(state.scannedEpoch),
    ),
    family(
      'skipped_epochs_total',
      'Finalized epochs that were skipped and not counted: older than slashings.catch_up, unreadable for an hour, or more than the budget allows',
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
      `Deposits of the old deposit list ${FINAL}. Since Electra deposits are requested on the execution layer and do not count (depositscount)`,
      one(totals.deposits),
    ),
    family(
      'block_voluntary_exits_total',
      `Voluntary exits ${FINAL}. Exits requested on the execution layer do not count (voluntaryexitscount)`,
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
      'Attester slashings by kind; each counts once, when first seen in a canonical block, and still counts after a reorganisation',
      KINDS.flatMap((kind) => sample(chain, totals.attesterSlashings[kind], { kind })),
    ),
    family(
      'attester_slashed_validators_total',
      'Distinct validators in both index lists of an attester slashing; an upper bound, because some may already have been slashed',
      one(totals.slashedValidators),
    ),
    family(
      'proposer_slashings_total',
      `Proposer slashings ${FINAL}. Their validators are known only with validators.proposer_slashings (proposerslashingscount)`,
      one(totals.proposerSlashings),
    ),
    family(
      'last_attester_slashing_timestamp_seconds',
      'Time of the slot of the newest block that included an attester slashing; absent until one is seen',
      timeOf(state.lastAttesterSlashingSlot),
    ),
    family(
      'last_proposer_slashing_timestamp_seconds',
      'Time of the slot of the newest finalized block that included a proposer slashing; absent until one is seen',
      timeOf(state.lastProposerSlashingSlot),
    ),
    ...watchedFamilies(options, state),
  ];
}

/** beaconchain_watched_*: the validators that the operator names. */
function watchedFamilies({ chain, watch, groups, seatsOf }: SlashingsOptions, state: Slashings): Family[] {
  if (watch.length === 0) return [];
  const { watchedProposals, syncDuties } = state.totals;
  const duties = seatsOf ? (['participated', 'missed'] as const) : [];
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
      'Seats of watched validators in the canonical blocks of finalized epochs; each seat and block counts once (syncaggregate_bits)',
      duties.flatMap((status) => sample(chain, syncDuties[status], { status })),
    ),
    family(
      'watched_validator_missed_proposal_timestamp_seconds',
      'Time of the slot of the newest missed or orphaned proposal of a watched validator. Limited to the 100 validators per chain with the newest ones',
      missed.flatMap(([validator, slot]) => sample(chain, slotTime(chain, slot), validatorLabels(groups, validator))),
    ),
  ];
}

/** The watched validators that were slashed. The first slot with evidence wins over what their status says. */
export function watchedSlashed(watch: Watch, { slashed, proposerSlashed, slashedByStatus }: Slashings): Slashed[] {
  const isWatched = (validator: number): boolean => watches(watch, validator);
  const reported = slashedByStatus.filter(({ validator }) => isWatched(validator));
  const all = new Map(reported.map((one) => [one.validator, one]));
  // By index: a slashing can have 131,072 entries.
  const evidence = [...slashed, ...proposerSlashed].filter((entry) => isWatched(entry[0]));
  // The last one first, so that the first one stays.
  for (const [validator, slot] of evidence.sort(([, a], [, b]) => b - a))
    all.set(validator, { ...all.get(validator), validator, slot });
  return [...all.values()].sort((a, b) => a.validator - b.validator);
}

/** The head; undefined if it is stale. */
export function shownHead(state: Slashings, timing: Timing): Head | undefined {
  return fresh(state.head, maxHeadAge(timing), timing.now);
}

export function nextSlashingsChange(state: Slashings, timing: Timing): UnixMs {
  return nextShownChange([[state.head, maxHeadAge(timing)]], timing.now);
}

function maxHeadAge({ intervalMs }: Timing): Milliseconds {
  return Math.max(MIN_HEAD_STALE_MS, 2 * intervalMs);
}
