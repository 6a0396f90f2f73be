import { CHAINS, type Chain, SECONDS_PER_SLOT, SLOTS_PER_EPOCH, slotTime } from '../facts/chain.ts';
import { between, unit } from '../toolkit/lib/random.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';

export const OFFENCES = ['attester', 'proposer'] as const;
export type Offence = (typeof OFFENCES)[number];

/** A chain that is computed from its seed slot by slot, and the orders that change it. */
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

/** Whether a slot has no block; otherwise it has one. */
export function isMissed({ seed, missed }: ChainWorld, slot: number): boolean {
  return missed.has(slot) || unit(seed, slot, 1) < 0.01;
}

/** The proposer of every slot, whether its block came or not (api-facts 8.1). */
export function proposerOf(world: ChainWorld, slot: number): number {
  const { seed, missed, proposers } = world;
  const { validators, slots } = proposers;
  const isTurn = slot % slots === between(0, slots - 1, seed, Math.floor(slot / slots), 19);
  const watched =
    isTurn && !isMissed(world, slot) ? validators[between(0, validators.length - 1, seed, slot, 20)] : undefined;
  return missed.get(slot) ?? watched ?? between(0, 1_000_000, seed, slot, 6);
}

/** How slashings that nobody ordered are drawn. Those of proposers are rarer. */
const DRAWS = { attester: { salt: 7, rarity: 1 }, proposer: { salt: 4, rarity: 10 } } as const;

/** The validators that the block of `slot` slashes: for an attester offence in one slashing (Electra). */
export function slashedInBlock({ seed, slotsPerSlashing, slashed }: ChainWorld, slot: number, offence: Offence) {
  const { salt, rarity } = DRAWS[offence];
  const isDrawn = unit(seed, slot, salt) * slotsPerSlashing * rarity < 1;
  return slashed[offence].get(slot) ?? (isDrawn ? [between(0, 1_000_000, seed, slot, salt, 1)] : []);
}

/** As the service writes amounts. */
export function wei(gwei: number): string {
  return String(BigInt(gwei) * 10n ** 9n);
}
