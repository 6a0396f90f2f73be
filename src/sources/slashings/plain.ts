import { slotTime } from '../../lib/chain.ts';
import { type PlainObject, plainNumber } from '../plain.ts';
import type { Timing } from '../source.ts';
import { shownHead, watchedSlashed } from './metrics.ts';
import type { SlashingsOptions } from './options.ts';
import type { Slashings } from './schema.ts';

/** A chain in /status.json. */
export function plainChain({ chain, watch }: SlashingsOptions, state: Slashings, timing: Timing): PlainObject {
  const { totals } = state;
  const head = shownHead(state, timing);
  const { double_vote, surround_vote, unknown } = totals.attesterSlashings;
  return {
    head_slot: plainNumber(head?.slot),
    head_epoch: plainNumber(head?.epoch),
    sync_participation_ratio: plainNumber(head?.participation),
    finalized_epoch: plainNumber(state.finalizedEpoch),
    scanned_epoch: plainNumber(state.scannedEpoch),
    skipped_epochs: totals.skippedEpochs,
    attester_slashings: double_vote + surround_vote + unknown,
    attester_slashed_validators: totals.slashedValidators,
    proposer_slashings: totals.proposerSlashings,
    watched_validators_slashed: watchedSlashed(watch, state).map(([validator]) => validator),
    watched_proposals_proposed: totals.watchedProposals.proposed,
    watched_proposals_missed: totals.watchedProposals.missed,
    watched_proposals_orphaned: totals.watchedProposals.orphaned,
    last_slashings: state.recent.toReversed().map(({ slot, kind, validators, count }) => ({
      slot,
      slot_timestamp_seconds: slotTime(chain, slot),
      kind,
      validators,
      validators_count: count,
    })),
  };
}
