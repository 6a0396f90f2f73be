import { CHAINS, type Chain, SECONDS_PER_SLOT, SLOTS_PER_EPOCH, slotTime } from '../facts/chain.ts';
import { between, seedOf, unit } from '../toolkit/lib/random.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';

/** A slot has at most one block. */
type SlotKind = 'proposed' | 'missed' | 'orphaned';

export const OFFENCES = ['attester', 'proposer'] as const;
export type Offence = (typeof OFFENCES)[number];

/** One of these validators proposes one block in each `slots` slots. Only an order makes one of them miss. */
export interface Proposers {
  readonly validators: readonly number[];
  readonly slots: number;
}

/** A chain that is computed from its seed slot by slot, and the orders that change it. */
export interface ChainWorld {
  readonly chain: Chain;
  readonly seed: number;
  /** On average one attester slashing in this many slots. */
  readonly slotsPerSlashing: number;
  readonly proposers: Proposers;
  /** The validators to be slashed for an offence, by slot of inclusion. */
  readonly slashed: Readonly<Record<Offence, Map<number, readonly number[]>>>;
  /** The validators that miss their proposal, by slot. */
  readonly missed: Map<number, number>;
  /** When validators do not attest, by index. */
  readonly offline: Map<number, { readonly from: UnixMs; readonly until: UnixMs }>;
  /** From when on at most this share of the network attests, oldest first. */
  readonly participation: { readonly from: UnixMs; readonly share: number }[];
}

export function createChainWorld(
  chain: Chain,
  worldSeed: string,
  options: Pick<ChainWorld, 'slotsPerSlashing' | 'proposers'>,
): ChainWorld {
  const slashed = { attester: new Map(), proposer: new Map() };
  const orders = { slashed, missed: new Map(), offline: new Map() };
  return { chain, seed: seedOf(`${worldSeed} ${chain}`), ...options, ...orders, participation: [] };
}

/** The share of the network that attests at most at a slot. */
export function participationAt({ chain, participation }: ChainWorld, slot: number): number {
  return participation.findLast(({ from }) => from <= slotTime(chain, slot) * 1000)?.share ?? 1;
}

/** Of a sync committee. */
export const SEATS = 512;

/** The newest slot that the service knows at `now`: blocks take one slot to arrive there. */
export function headSlot(chain: Chain, now: UnixMs): number {
  return Math.max(0, Math.floor((now / 1000 - CHAINS[chain].genesis) / SECONDS_PER_SLOT) - 1);
}

export function epochOf(slot: number): number {
  return Math.floor(slot / SLOTS_PER_EPOCH);
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

export function kindOf({ seed, missed }: ChainWorld, slot: number): SlotKind {
  if (missed.has(slot)) return 'missed';
  const draw = unit(seed, slot, 1);
  if (slot === 0 || draw >= 0.0115) return 'proposed';
  return draw < 0.01 ? 'missed' : 'orphaned';
}

/** The proposer of every slot, whether its block came or not (api-facts 8.1). */
export function proposerOf(world: ChainWorld, slot: number): number {
  const { seed, missed, proposers } = world;
  const { validators, slots } = proposers;
  const isTurn = slot % slots === between(0, slots - 1, seed, Math.floor(slot / slots), 19);
  const watched =
    isTurn && kindOf(world, slot) === 'proposed'
      ? validators[between(0, validators.length - 1, seed, slot, 20)]
      : undefined;
  return missed.get(slot) ?? watched ?? between(0, 1_000_000, seed, slot, 6);
}

/** How slashings that nobody ordered are drawn. Those of proposers are rarer. */
const DRAWS = {
  attester: { salt: 7, rarity: 1, validatorsAt: operatorAt },
  proposer: { salt: 4, rarity: 10, validatorsAt: proposerAt },
} as const;

/** The validators that the block of `slot` slashes: for an attester offence in one slashing (Electra). */
export function slashedInBlock({ seed, slotsPerSlashing, slashed }: ChainWorld, slot: number, offence: Offence) {
  const { salt, rarity, validatorsAt } = DRAWS[offence];
  const isDrawn = unit(seed, slot, salt) * slotsPerSlashing * rarity < 1;
  return slashed[offence].get(slot) ?? (isDrawn ? validatorsAt(seed, slot) : []);
}

/** Usually one validator, sometimes the whole cluster of an operator. */
function operatorAt(seed: number, slot: number): number[] {
  const count = unit(seed, slot, 8) < 0.8 ? 1 : between(2, 40, seed, slot, 9);
  const first = between(0, 1_000_000, seed, slot, 10);
  return Array.from({ length: count }, (_, i) => first + i);
}

function proposerAt(seed: number, slot: number): number[] {
  return [between(0, 1_000_000, seed, slot, 21)];
}
