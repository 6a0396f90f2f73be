import { SECONDS_PER_SLOT, SLOTS_PER_EPOCH } from '../../lib/chain.ts';
import { SECONDS_PER_DAY } from '../../lib/duration.ts';
import { type Watch, watches } from '../../lib/watch.ts';
import type { RecentSlashing, Slashings } from './schema.ts';

const SEEN_SLOTS = (31 * SECONDS_PER_DAY) / SECONDS_PER_SLOT;
const MAX_ENTRIES = 100_000;
const MAX_NAMED = 20;

/**
 * Drops what is no longer needed: reads of scanned epochs, identities too old to appear again, and the oldest final
 * entries beyond the limit. The slashing of a watched validator is kept for good.
 */
export function prune(whole: Slashings, watch: Watch): Slashings {
  const state = { ...whole, recent: whole.recent.map((slashing) => withFewValidators(slashing, watch)) };
  if (state.scannedEpoch === undefined) return state;
  const firstOpenSlot = (state.scannedEpoch + 1) * SLOTS_PER_EPOCH;
  const mayGo = ([validator, slot]: [number, number]): boolean => slot < firstOpenSlot && !watches(watch, validator);
  const recent = state.seen.filter(([, slot]) => slot >= firstOpenSlot - SEEN_SLOTS);
  return {
    ...state,
    namedSlots: state.namedSlots.filter((slot) => slot >= firstOpenSlot),
    reads: state.reads.filter((read) => read.slot >= firstOpenSlot),
    seen: bounded(recent, ([, slot]) => slot < firstOpenSlot),
    slashed: bounded(state.slashed, mayGo),
    proposerSlashed: bounded(state.proposerSlashed, mayGo),
    recentProposals: state.recentProposals.filter(({ validator }) => watches(watch, validator)),
    missedProposals: state.missedProposals.filter(([validator]) => watches(watch, validator)),
  };
}

/** Keeps a few validators of a slashing, which can have 131,072, the watched ones first. */
function withFewValidators(slashing: RecentSlashing, watch: Watch): RecentSlashing {
  const { validators } = slashing;
  if (validators.length <= MAX_NAMED) return slashing;
  const watched = validators.filter((validator) => watches(watch, validator));
  const others = validators.filter((validator) => !watches(watch, validator));
  return { ...slashing, validators: [...watched, ...others].slice(0, MAX_NAMED) };
}

function bounded<T>(entries: [T, number][], mayDrop: (entry: [T, number]) => boolean): [T, number][] {
  const over = entries.length - MAX_ENTRIES;
  if (over <= 0) return entries;
  const oldestFirst = entries.filter(mayDrop).sort((a, b) => a[1] - b[1]);
  const gone = new Set(oldestFirst.slice(0, over));
  return entries.filter((entry) => !gone.has(entry));
}
