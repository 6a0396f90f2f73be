import type { UnixMs } from '../lib/time.ts';
import { type ChainWorld, headSlot, isCanonical, slashedProposersIn, slashingIn } from './slashings-data.ts';

/** Orders an attester slashing for the next block without one, and returns its slot. */
export function orderSlashing(world: ChainWorld, validators: readonly number[], now: UnixMs): number {
  const slot = firstFreeSlot(world, now, (taken) => slashingIn(world, taken) !== undefined);
  world.ordered.set(slot, ascending(validators));
  return slot;
}

/** Orders proposer slashings, one of each validator, for the next block without any. Returns its slot. */
export function orderProposerSlashings(world: ChainWorld, validators: readonly number[], now: UnixMs): number {
  const slot = firstFreeSlot(world, now, (taken) => slashedProposersIn(world, taken).length > 0);
  world.slashedProposers.set(slot, ascending(validators));
  return slot;
}

/** Orders that the validator is the proposer of the next slot that can be missed, and misses it. Returns the slot. */
export function orderMiss(world: ChainWorld, validator: number, now: UnixMs): number {
  const slot = firstFreeSlot(world, now, (taken) => world.ordered.has(taken) || world.slashedProposers.has(taken));
  world.missed.set(slot, validator);
  return slot;
}

/** The next slot that is not taken, with a block that can still be changed: that of the current slot has been sent. */
function firstFreeSlot(world: ChainWorld, now: UnixMs, isTaken: (slot: number) => boolean): number {
  let slot = headSlot(world.chain, now) + 2;
  while (!isCanonical(world, slot) || isTaken(slot)) slot += 1;
  return slot;
}

function ascending(validators: readonly number[]): number[] {
  return [...new Set(validators)].sort((a, b) => a - b);
}
