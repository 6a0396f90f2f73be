import { type Watch, watches } from '../../facts/watch.ts';
import type { EventTable, SourceEvent } from '../read.ts';
import { few, type ObservedSlashing } from './count.ts';

export const EVENTS = {
  watched_slashed: { level: 'error', message: 'watched validator slashed' },
  attester_slashing: { level: 'warn', message: 'attester slashing' },
  proposer_slashing: { level: 'warn', message: 'proposer slashing' },
  missed_proposal: { level: 'warn', message: 'watched validator missed a proposal' },
  unexpected_fee_recipient: { level: 'error', message: 'block of a watched validator paid an unexpected address' },
  block_unread: { level: 'warn', message: 'could not read what a block of a watched validator earned' },
  names_unreadable: { level: 'warn', message: 'could not read who was slashed as a proposer' },
  members_unknown: { level: 'warn', message: 'sync committee members unknown: seats not counted' },
  epochs_skipped: { level: 'warn', message: 'finalized epochs skipped' },
  blocks_tied: { level: 'warn', message: 'service reports two canonical blocks of a slot: counting the first' },
  finality_back: { level: 'warn', message: 'finalized epoch went back' },
} as const satisfies EventTable;

/** `validators`: at most 20 of `count`, the watched ones first. */
export function slashingEvent(watch: Watch, { slot, kind, validators }: ObservedSlashing): SourceEvent {
  const watched = validators.filter((validator) => watches(watch, validator)).length;
  const byKind = kind === 'proposer' ? 'proposer_slashing' : 'attester_slashing';
  const type = watched > 0 ? 'watched_slashed' : byKind;
  return { type, slot, kind, validators: few(watch, validators), count: validators.length, watched };
}
