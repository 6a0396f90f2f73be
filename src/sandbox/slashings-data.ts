import { CHAINS, type Chain, SECONDS_PER_SLOT, SLOTS_PER_EPOCH } from '../facts/chain.ts';
import { between, hexOf, seedOf, unit } from '../toolkit/lib/random.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { blockFields, EMPTY_FIELDS, rootOf } from './slashings-block.ts';
import { attesterEvidence, type Slashing } from './slashings-evidence.ts';

/**
 * `contested`: an orphaned block was the head for one slot, then another block of the same slot replaced it (api-facts
 * 5.1: two rows). `orphaned`: the slot has no other block.
 */
type SlotKind = 'proposed' | 'missed' | 'orphaned' | 'contested';

/** One of these validators proposes one block in each `slots` slots. Only an order makes one of them miss. */
export interface Proposers {
  readonly validators: readonly number[];
  readonly slots: number;
}

/** A chain that is computed from its seed slot by slot, plus what was ordered. */
export interface ChainWorld {
  readonly chain: Chain;
  readonly seed: number;
  /** On average one attester slashing in this many slots. */
  readonly slotsPerSlashing: number;
  /** The validators to be slashed, by slot of inclusion. */
  readonly ordered: Map<number, readonly number[]>;
  /** The validators to be slashed as proposers, by slot of inclusion. */
  readonly slashedProposers: Map<number, readonly number[]>;
  /** The validators that miss their proposal, by slot. */
  readonly missed: Map<number, number>;
  /** When validators do not attest, by index. */
  readonly offline: Map<number, { readonly from: UnixMs; readonly until: UnixMs }>;
  readonly proposers: Proposers;
}

export function createChainWorld(
  chain: Chain,
  seed: string,
  { slotsPerSlashing, proposers }: Pick<ChainWorld, 'slotsPerSlashing' | 'proposers'>,
): ChainWorld {
  return {
    chain,
    seed: seedOf(`${seed} ${chain}`),
    slotsPerSlashing,
    ordered: new Map(),
    slashedProposers: new Map(),
    missed: new Map(),
    offline: new Map(),
    proposers,
  };
}

const SLOTS_PER_PROPOSER_SLASHING = 10;

/** The newest slot that the service knows at `now`: blocks take one slot to arrive there. */
export function headSlot(chain: Chain, now: UnixMs): number {
  return Math.max(0, Math.floor((now / 1000 - CHAINS[chain].genesis) / SECONDS_PER_SLOT) - 1);
}

export function epochOf(slot: number): number {
  return Math.floor(slot / SLOTS_PER_EPOCH);
}

export function finalizedEpoch(head: number): number {
  return Math.max(0, epochOf(head) - 2);
}

function kindOf({ seed, missed }: ChainWorld, slot: number): SlotKind {
  if (missed.has(slot)) return 'missed';
  const draw = unit(seed, slot, 1);
  if (slot === 0 || draw >= 0.013) return 'proposed';
  if (draw < 0.01) return 'missed';
  return draw < 0.0115 ? 'orphaned' : 'contested';
}

export function isCanonical(world: ChainWorld, slot: number): boolean {
  const kind = kindOf(world, slot);
  return kind === 'proposed' || kind === 'contested';
}

function previousBlock(world: ChainWorld, slot: number): number {
  let previous = slot - 1;
  while (previous > 0 && !isCanonical(world, previous)) previous -= 1;
  return previous;
}

/** The block root that an observer sees when the head is `head`; undefined for a slot without a block. */
function visibleRoot(world: ChainWorld, slot: number, head: number): string | undefined {
  const kind = kindOf(world, slot);
  if (kind === 'missed') return undefined;
  return kind === 'orphaned' || (kind === 'contested' && slot === head)
    ? orphanRoot(world, slot)
    : rootOf(world.seed, slot);
}

function orphanRoot({ seed }: ChainWorld, slot: number): string {
  return hexOf(32, seed, slot, 3);
}

/** The rows of an epoch, up to the head. */
export function epochRows(world: ChainWorld, epoch: number, head: number): object[] {
  const first = epoch * SLOTS_PER_EPOCH;
  const slots = Array.from({ length: SLOTS_PER_EPOCH }, (_, i) => first + i);
  return slots.filter((slot) => slot <= head).flatMap((slot) => slotRows(world, slot, head));
}

function slotRows(world: ChainWorld, slot: number, head: number): object[] {
  switch (kindOf(world, slot)) {
    case 'proposed':
      return [blockRow(world, slot, '1', rootOf(world.seed, slot))];
    case 'missed':
      return [emptyRow(world, slot, epochOf(slot) <= finalizedEpoch(head))];
    // While a block is the head, it does not look orphaned.
    case 'orphaned':
      return [blockRow(world, slot, slot < head ? '3' : '1', orphanRoot(world, slot))];
    case 'contested':
      return slot < head
        ? [blockRow(world, slot, '3', orphanRoot(world, slot)), blockRow(world, slot, '1', rootOf(world.seed, slot))]
        : [blockRow(world, slot, '1', orphanRoot(world, slot))];
  }
}

function blockRow(world: ChainWorld, slot: number, status: string, blockroot: string): object {
  const { seed, chain } = world;
  return {
    ...position(world, slot),
    status,
    blockroot,
    parentroot: rootOf(world.seed, previousBlock(world, slot)),
    attesterslashingscount: slashingIn(world, slot) ? 1 : 0,
    proposerslashingscount: slashedProposersIn(world, slot).length,
    ...blockFields(chain, seed, slot),
  };
}

/** A missed slot looks scheduled until finality, and its root is a placeholder (api-facts 5.1). */
function emptyRow(world: ChainWorld, slot: number, final: boolean): object {
  return {
    ...position(world, slot),
    status: final ? '2' : '0',
    blockroot: final && unit(world.seed, slot, 5) < 0.5 ? '0x01' : '0x00',
    parentroot: null,
    attesterslashingscount: 0,
    proposerslashingscount: 0,
    ...EMPTY_FIELDS,
  };
}

function position(world: ChainWorld, slot: number): object {
  return { slot, epoch: epochOf(slot), proposer: proposerOf(world, slot) };
}

/** Of every slot, whatever became of it (api-facts 8.1). */
function proposerOf(world: ChainWorld, slot: number): number {
  const { seed, missed, proposers } = world;
  const ordered = missed.get(slot);
  if (ordered !== undefined) return ordered;
  const { validators, slots } = proposers;
  const isTurn = slot % slots === between(0, slots - 1, seed, Math.floor(slot / slots), 19);
  const theirs =
    isTurn && kindOf(world, slot) === 'proposed'
      ? validators[between(0, validators.length - 1, seed, slot, 20)]
      : undefined;
  return theirs ?? between(0, 1_000_000, seed, slot, 6);
}

/** The slashing that a block of `slot` includes: the oldest one since the last canonical block, one at most (Electra). */
export function slashingIn(world: ChainWorld, slot: number): Slashing | undefined {
  const ordered = world.ordered.get(slot);
  if (ordered) return { origin: slot, validators: ordered };
  for (let origin = previousBlock(world, slot) + 1; origin <= slot; origin += 1) {
    if (unit(world.seed, origin, 7) * world.slotsPerSlashing < 1) {
      return { origin, validators: slashedAt(world, origin) };
    }
  }
  return undefined;
}

/** Usually one validator, sometimes the whole cluster of an operator. */
function slashedAt({ seed }: ChainWorld, origin: number): number[] {
  const draw = unit(seed, origin, 8);
  const count = draw < 0.8 ? 1 : draw < 0.95 ? between(2, 5, seed, origin, 9) : between(6, 40, seed, origin, 9);
  const first = between(0, 1_000_000, seed, origin, 10);
  return Array.from({ length: count }, (_, i) => first + i);
}

export function slashedProposersIn(
  { seed, slotsPerSlashing, slashedProposers }: ChainWorld,
  slot: number,
): readonly number[] {
  const isDrawn = unit(seed, slot, 4) * slotsPerSlashing * SLOTS_PER_PROPOSER_SLASHING < 1;
  return slashedProposers.get(slot) ?? (isDrawn ? [between(0, 1_000_000, seed, slot, 21)] : []);
}

/** The attester slashings (api-facts 5.2) of the block that is seen at `slot` when the head is `head`. */
export function slotSlashings(world: ChainWorld, slot: number, head: number): object[] {
  const blockRoot = slot <= head ? visibleRoot(world, slot, head) : undefined;
  const slashing = blockRoot === undefined ? undefined : slashingIn(world, slot);
  if (!slashing) return [];
  return [{ block_index: 0, block_root: blockRoot, block_slot: slot, ...attesterEvidence(world.seed, slashing) }];
}

/** The proposer slashings (api-facts 8.1) of the block that is seen at `slot` when the head is `head`. */
export function slotProposerSlashings(world: ChainWorld, slot: number, head: number): object[] {
  const blockRoot = slot <= head ? visibleRoot(world, slot, head) : undefined;
  if (blockRoot === undefined) return [];
  return slashedProposersIn(world, slot).map((proposerindex, block_index) => ({
    block_index,
    block_root: blockRoot,
    block_slot: slot,
    proposerindex,
  }));
}
