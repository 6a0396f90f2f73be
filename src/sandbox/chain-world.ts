import { hash } from 'node:crypto';
import { CHAINS, type Chain, SECONDS_PER_SLOT, SLOTS_PER_EPOCH, slotTime } from '../facts/chain.ts';
import { between, unit } from '../toolkit/lib/random.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';

export const OFFENCES = ['attester', 'proposer'] as const;
export type Offence = (typeof OFFENCES)[number];

/** A vote of some validators, by index. */
export interface IndexedAttestation {
  readonly slot: number;
  readonly index: number;
  readonly blockRoot: string;
  readonly source: { readonly epoch: number; readonly root: string };
  readonly target: { readonly epoch: number; readonly root: string };
  readonly validators: readonly number[];
}

/** Validators that are in both votes are slashed. The same slashing can be in several blocks, of forks or of one chain. */
export type AttesterSlashing = readonly [IndexedAttestation, IndexedAttestation];

export interface Block {
  readonly root: string;
  /** The root of the block before it on its own branch. */
  readonly parent: string;
  readonly proposer: number;
  readonly attesterSlashings: readonly AttesterSlashing[];
  readonly slashedProposers: readonly number[];
  readonly attestations: number;
  readonly deposits: number;
  readonly voluntaryExits: number;
  readonly withdrawals: number;
  readonly transactions: number;
  readonly gasUsed: number;
  /** Which seats of the sync committee signed, as on the wire: 0x and 128 digits. null: before Altair. */
  readonly signers: string | null;
  /** Otherwise it is orphaned. */
  readonly isCanonical: boolean;
}

/** A chain. Its seed draws each slot, unless a story or an order says what the slot is. */
export interface ChainWorld {
  readonly chain: Chain;
  readonly seed: number;
  /** On average one attester slashing in this many slots. */
  readonly slotsPerSlashing: number;
  /** One of these validators proposes one block in each `slots` slots. Only an order makes one of them miss. */
  readonly proposers: { readonly validators: readonly number[]; readonly slots: number };
  /** The validators to be slashed for an offence, by slot of inclusion. */
  readonly slashed: Readonly<Record<Offence, Map<number, readonly number[]>>>;
  /** The validators that miss their proposal, by slot. */
  readonly missed: Map<number, number>;
  /** The blocks of the slots that a story wrote, with forks. A slot with an empty list is missed. */
  readonly blocks: Map<number, readonly Block[]>;
  /** The newest slot that the service knows. Undefined: by the clock. */
  head: number | undefined;
  /** The newest final epoch. Undefined: the second before the head. */
  finalized: number | undefined;
  /** Whether all blocks of a slot are shown as canonical if one is: the service sets the status by slot (api-facts 5.1). */
  isTied: (slot: number) => boolean;
}

/** A chain without a story and without orders. By default without slashings and without watched validators. */
export function chainWorld(
  chain: Chain,
  settings: Pick<ChainWorld, 'seed'> & Partial<Pick<ChainWorld, 'slotsPerSlashing' | 'proposers'>>,
): ChainWorld {
  return {
    chain,
    slotsPerSlashing: Number.POSITIVE_INFINITY,
    proposers: { validators: [], slots: 1 },
    ...settings,
    slashed: { attester: new Map(), proposer: new Map() },
    missed: new Map(),
    blocks: new Map(),
    head: undefined,
    finalized: undefined,
    isTied: () => false,
  };
}

export const SEATS = 512;

/** The newest slot that the service knows at `now`: blocks take one slot to arrive there. */
export function headSlot(chain: Chain, now: UnixMs): number {
  return Math.max(0, Math.floor((now / 1000 - CHAINS[chain].genesis) / SECONDS_PER_SLOT) - 1);
}

export function epochOf(slot: number): number {
  return Math.floor(slot / SLOTS_PER_EPOCH);
}

export function headEpoch(chain: Chain, now: UnixMs): number {
  return epochOf(headSlot(chain, now));
}

/** The range object of api-facts 3.1 for epochs, both inclusive. Its last second is the end of the time span. */
export function epochsRange(chain: Chain, first: number, last: number) {
  const slot = { start: first * SLOTS_PER_EPOCH, end: (last + 1) * SLOTS_PER_EPOCH - 1 };
  return {
    slot,
    epoch: { start: first, end: last },
    timestamp: { start: slotTime(chain, slot.start), end: slotTime(chain, slot.end) + SECONDS_PER_SLOT - 1 },
  };
}

export function headOf({ chain, head }: ChainWorld, now: UnixMs): number {
  return head ?? headSlot(chain, now);
}

export function finalizedEpoch(world: ChainWorld, now: UnixMs): number {
  return world.finalized ?? Math.max(0, epochOf(headOf(world, now)) - 2);
}

/** The blocks of a slot, those of forks too. */
export function blocksAt(world: ChainWorld, slot: number): readonly Block[] {
  return world.blocks.get(slot) ?? (isMissed(world, slot) ? [] : [drawnBlock(world, slot)]);
}

/** Whether a slot has no block. */
export function isMissed({ seed, missed, blocks }: ChainWorld, slot: number): boolean {
  const written = blocks.get(slot);
  return written ? written.length === 0 : missed.has(slot) || unit(seed, slot, 1) < 0.01;
}

/** A slot has a proposer even if it has no block (api-facts 8.1). */
export function proposerOf(world: ChainWorld, slot: number): number {
  const { seed, missed, proposers, blocks } = world;
  const { validators, slots } = proposers;
  const isTurn = slot % slots === between(0, slots - 1, seed, Math.floor(slot / slots), 19);
  const watched =
    isTurn && !isMissed(world, slot) ? validators[between(0, validators.length - 1, seed, slot, 20)] : undefined;
  const written = blocks.get(slot)?.[0]?.proposer;
  return written ?? missed.get(slot) ?? watched ?? between(0, 1_000_000, seed, slot, 6);
}

/** The bits of a sync committee, of which the lowest 0 to 15 are not set. */
const SIGNERS = Array.from({ length: 16 }, (_, silent) => {
  const all = (1n << BigInt(SEATS)) - (1n << BigInt(silent));
  return `0x${all.toString(16)}`;
});

/** A canonical block of this slot, or of its fork `fork`, as the seed and the orders have it. */
export function drawnBlock(world: ChainWorld, slot: number, fork = 0): Block {
  const { seed } = world;
  const id = [seed + fork, slot, 100];
  const slashed = slashedInBlock(world, slot, 'attester');
  return {
    root: rootOf(world, slot, fork),
    parent: parentOf(world, slot),
    proposer: proposerOf(world, slot),
    attesterSlashings: slashed.length > 0 ? [doubleVote(world, slot, slashed)] : [],
    slashedProposers: slashedInBlock(world, slot, 'proposer'),
    attestations: between(5, 8, 3, ...id),
    deposits: 0,
    voluntaryExits: unit(4, ...id) < 0.05 ? between(1, 16, 5, ...id) : 0,
    withdrawals: 16,
    transactions: between(80, 400, 12, ...id),
    gasUsed: between(15_000_000, 45_000_000, 11, ...id),
    signers: SIGNERS[between(0, 15, 1, ...id)] ?? null,
    isCanonical: true,
  };
}

/** The root of a block. Each fork has another one. */
export function rootOf({ seed }: Pick<ChainWorld, 'seed'>, slot: number, fork = 0): string {
  return `0x${hash('sha256', `${seed} ${slot} ${fork}`)}`;
}

/** The root of the newest canonical block before a slot. */
export function parentOf(world: ChainWorld, slot: number): string {
  for (let before = slot - 1; before > 0; before -= 1) {
    const written = world.blocks.get(before);
    const root = written?.find(({ isCanonical }) => isCanonical)?.root;
    if (root !== undefined) return root;
    if (!written && !isMissed(world, before)) return rootOf(world, before);
  }
  return rootOf(world, 0);
}

/** How the seed draws slashings. */
const DRAWS = { attester: { salt: 7, rarity: 1 }, proposer: { salt: 4, rarity: 10 } } as const;

/** How many slashings the canonical block of a slot includes, and how many validators they slash. */
export function slashedAt(
  world: ChainWorld,
  slot: number,
): { readonly slashings: number; readonly validators: number } {
  const written = world.blocks.get(slot)?.find(({ isCanonical }) => isCanonical);
  if (written) {
    const { attesterSlashings, slashedProposers } = written;
    const named = attesterSlashings.flatMap(([one, other]) =>
      one.validators.filter((index) => other.validators.includes(index)),
    );
    const { length: proposers } = slashedProposers;
    return { slashings: attesterSlashings.length + proposers, validators: named.length + proposers };
  }
  if (world.blocks.has(slot) || isMissed(world, slot)) return { slashings: 0, validators: 0 };
  // Drawn without the rest of the block: a day has 7,200.
  const { length: attesters } = slashedInBlock(world, slot, 'attester');
  const { length: proposers } = slashedInBlock(world, slot, 'proposer');
  return { slashings: Math.min(1, attesters) + proposers, validators: attesters + proposers };
}

/** The validators that the drawn block of `slot` slashes: for an attester offence in one slashing (Electra). */
function slashedInBlock({ seed, slotsPerSlashing, slashed }: ChainWorld, slot: number, offence: Offence) {
  const { salt, rarity } = DRAWS[offence];
  const isDrawn = unit(seed, slot, salt) * slotsPerSlashing * rarity < 1;
  return slashed[offence].get(slot) ?? (isDrawn ? [between(0, 1_000_000, seed, slot, salt, 1)] : []);
}

/** Two votes for different blocks, two slots before the block that contains the slashing. */
function doubleVote(world: ChainWorld, including: number, slashed: readonly number[]): AttesterSlashing {
  const slot = including - 2;
  const epoch = epochOf(slot);
  const checkpoint = (at: number) => ({ epoch: at, root: rootOf(world, at * SLOTS_PER_EPOCH) });
  const [source, target] = [checkpoint(epoch - 1), checkpoint(epoch)];
  const validators = slashed.toSorted((a, b) => a - b);
  // Committees are merged since Electra, and the index is 0 (api-facts 8).
  const vote = (fork: number) => ({ slot, index: 0, blockRoot: rootOf(world, slot, fork), source, target, validators });
  return [vote(0), vote(1)];
}
