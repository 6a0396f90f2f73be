import { SECONDS_PER_SLOT, SLOTS_PER_EPOCH } from '../../facts/chain.ts';
import { type Watch, watches } from '../../facts/watch.ts';
import { SECONDS_PER_DAY } from '../../toolkit/lib/duration.ts';
import { few } from './count.ts';
import type { Slashings } from './state.ts';

const SEEN_SLOTS = (31 * SECONDS_PER_DAY) / SECONDS_PER_SLOT;
const MAX_ENTRIES = 100_000;

/**
 * Drops reads of scanned epochs, identities too old to appear again, and the oldest finalized entries beyond the limit. Keeps the slashing
 * of a watched validator for ever.
 */
export function prune(state: Slashings, watch: Watch): Slashings {
  const { scannedEpoch = -1 } = state;
  const firstOpenSlot = (scannedEpoch + 1) * SLOTS_PER_EPOCH;
  // By index: a slashing can have 131,072 entries at each pass until finality, and destructuring takes six times as long.
  const mayGo = (entry: [number, number]): boolean => entry[1] < firstOpenSlot && !watches(watch, entry[0]);
  const seen = state.seen.filter((entry) => entry[1] >= firstOpenSlot - SEEN_SLOTS);
  return {
    ...state,
    recent: state.recent.map((slashing) => ({ ...slashing, validators: few(watch, slashing.validators) })),
    namedSlots: state.namedSlots.filter((slot) => slot >= firstOpenSlot),
    reads: state.reads.filter((read) => read.slot >= firstOpenSlot),
    seen: bounded(seen, (entry) => entry[1] < firstOpenSlot),
    slashed: bounded(state.slashed, mayGo),
    proposerSlashed: bounded(state.proposerSlashed, mayGo),
    slashedByStatus: state.slashedByStatus.filter(({ validator }) => watches(watch, validator)),
    ownBlocks: {
      ...state.ownBlocks,
      open: state.ownBlocks.open.filter(({ validator }) => watches(watch, validator)),
    },
    missedProposals: state.missedProposals.filter(([validator]) => watches(watch, validator)),
  };
}

function bounded<T>(entries: [T, number][], mayDrop: (entry: [T, number]) => boolean): [T, number][] {
  const over = entries.length - MAX_ENTRIES;
  const oldestFirst = over > 0 ? entries.filter(mayDrop).sort((a, b) => a[1] - b[1]) : [];
  if (oldestFirst.length === 0) return entries;
  const gone = new Set(oldestFirst.slice(0, over));
  return entries.filter((entry) => !gone.has(entry));
}
