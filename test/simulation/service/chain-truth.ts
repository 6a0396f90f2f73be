import {
  type AttesterSlashing,
  type Block,
  blocksAt,
  type ChainWorld,
  proposerOf,
} from '../../../src/sandbox/chain-world.ts';
import { NOBODY } from './chain.ts';

/** Value by name without prefix and labels without chain, such as `slots_total missed`. */
type Counters = Readonly<Record<string, number>>;

/** The slots of an epoch that have begun. */
function slotsOf({ head = 0 }: ChainWorld, epoch: number): number[] {
  return Array.from({ length: 32 }, (_, i) => epoch * 32 + i).filter((slot) => slot <= head);
}

export function canonicalBlocks(world: ChainWorld, epoch: number): Block[] {
  return slotsOf(world, epoch)
    .flatMap((slot) => blocksAt(world, slot))
    .filter(({ isCanonical }) => isCanonical);
}

/** The slashings in the canonical blocks of an epoch. */
export function canonicalSlashings(world: ChainWorld, epoch: number): AttesterSlashing[] {
  return canonicalBlocks(world, epoch).flatMap(({ attesterSlashings }) => attesterSlashings);
}

/** Which of the names of `attester_slashings_total` a slashing has (consensus-specs, is_slashable_attestation_data). */
export function kindOf([one, two]: AttesterSlashing): string {
  if (one.target.epoch === two.target.epoch) return 'double_vote';
  const isSurround = one.source.epoch < two.source.epoch && two.target.epoch < one.target.epoch;
  return isSurround ? 'surround_vote' : 'unknown';
}

/** How many validators cast both votes of one of these slashings. */
export function slashedValidators(slashings: Iterable<AttesterSlashing>): number {
  const both = [...slashings].flatMap(([one, two]) => one.validators.filter((index) => two.validators.includes(index)));
  return new Set(both).size;
}

/** What became of a slot: for the slot itself, and for each of its known proposers. */
function outcomesOf(world: ChainWorld, slot: number) {
  const blocks = blocksAt(world, slot);
  const winner = blocks.find(({ isCanonical }) => isCanonical);
  const failed = blocks.length === 0 ? 'missed' : 'orphaned';
  const proposers = new Set(blocks.length === 0 ? [proposerOf(world, slot)] : blocks.map(({ proposer }) => proposer));
  proposers.delete(NOBODY);
  const duties = [...proposers].map((proposer) => ({
    proposer,
    outcome: proposer === winner?.proposer ? 'proposed' : failed,
  }));
  return { outcome: winner ? 'proposed' : failed, duties };
}

/**
 * What the exporter must count, once these epochs are final and it has read each of them, but skipped those between them.
 * @param seen The slashings that it has read before they were final.
 */
export function truthOf(
  world: ChainWorld,
  epochs: readonly number[],
  seen: ReadonlySet<AttesterSlashing>,
  isWatched: (validator: number) => boolean,
): Counters {
  const final = epochs.flatMap((epoch) => canonicalSlashings(world, epoch));
  const counted = [...new Set([...seen, ...final])];
  const ofKind = (kind: string): number => counted.filter((one) => kindOf(one) === kind).length;
  const blocks = epochs.flatMap((epoch) => canonicalBlocks(world, epoch));
  const total = (of: (block: Block) => number): number => blocks.reduce((sum, block) => sum + of(block), 0);
  const slots = epochs.flatMap((epoch) => slotsOf(world, epoch)).map((slot) => outcomesOf(world, slot));
  const duties = slots.flatMap((slot) => slot.duties).filter(({ proposer }) => isWatched(proposer));
  const ending = (all: readonly { readonly outcome: string }[], how: string): number =>
    all.filter(({ outcome }) => outcome === how).length;
  const last = Number(world.finalized);
  return {
    scanned_epoch: last,
    skipped_epochs_total: last + 1 - (epochs[0] ?? last + 1) - epochs.length,
    'slots_total proposed': ending(slots, 'proposed'),
    'slots_total missed': ending(slots, 'missed'),
    'slots_total orphaned': ending(slots, 'orphaned'),
    'watched_proposals_total proposed': ending(duties, 'proposed'),
    'watched_proposals_total missed': ending(duties, 'missed'),
    'watched_proposals_total orphaned': ending(duties, 'orphaned'),
    block_attestations_total: total(({ attestations }) => attestations),
    block_deposits_total: total(({ deposits }) => deposits),
    block_voluntary_exits_total: total(({ voluntaryExits }) => voluntaryExits),
    block_withdrawals_total: total(({ withdrawals }) => withdrawals),
    block_transactions_total: total(({ transactions }) => transactions),
    block_gas_used_total: total(({ gasUsed }) => gasUsed),
    proposer_slashings_total: total(({ slashedProposers }) => slashedProposers.length),
    'attester_slashings_total double_vote': ofKind('double_vote'),
    'attester_slashings_total surround_vote': ofKind('surround_vote'),
    'attester_slashings_total unknown': ofKind('unknown'),
    attester_slashed_validators_total: slashedValidators(counted),
  };
}
