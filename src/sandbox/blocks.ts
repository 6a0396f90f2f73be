import { hash } from 'node:crypto';
import { between, unit } from '../toolkit/lib/random.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import type { BlockRewardsBody } from './body.ts';
import { epochOf, finalizedEpoch, headOf, isMissed, proposerOf, rootOf } from './chain-world.ts';
import { Refusal } from './refusal.ts';
import { BLOCK_NUMBER_OFFSET } from './v1.ts';
import { drawnAddress } from './validator.ts';
import { GWEI, type Payload, type Payment, type ValidatorsWorld } from './validators-world.ts';
import type { Sandbox } from './world.ts';

/** POST /api/v2/ethereum/block/rewards: what the proposer of a block was paid on the execution layer, as recorded. */
export function blockRewards({ chains }: Sandbox, { chain, block: { number } }: BlockRewardsBody, now: UnixMs): string {
  const world = chains[chain];
  const given = world.payloads.find((one) => one.number === number);
  const block = given ?? drawnPayload(world, number - BLOCK_NUMBER_OFFSET);
  if (!block || block.slot > headOf(world, now)) throw new Refusal(404);
  const isFinal = epochOf(block.slot) <= finalizedEpoch(world, now);
  return JSON.stringify({ data: paidTo(block, isFinal ? 'finalized' : 'not_finalized') });
}

export function paidTo(block: Payload, finality: 'finalized' | 'not_finalized') {
  const { slot, number, root, hash: name, fees, mev } = block;
  return {
    total_reward: paymentOf(rewardOf(block)),
    priority_fees: paymentOf(fees),
    mev: mev && paymentOf(mev),
    mining: null,
    execution_reference: { block: number, hash: name },
    consensus_reference: { slot, block_root: root, epoch: epochOf(slot) },
    finality,
  };
}

function paymentOf({ amount, recipient: { address, isContract } }: Payment) {
  return { amount: String(amount), recipient: { address, is_contract: isContract } };
}

/** Never the sum of both: the builder of a bought block keeps the fees. */
function rewardOf<T>({ mev, fees }: { readonly mev: T | null; readonly fees: T }): T {
  return mev ?? fees;
}

/** What the proposer of the block at a slot was paid, wei. */
export function paidFor(world: ValidatorsWorld, slot: number): bigint {
  const given = world.payloads.find((one) => one.slot === slot);
  return given ? rewardOf(given).amount : rewardOf(drawnAmounts(world, slot));
}

/** The fee recipient of a validator. The watched ones share theirs. */
export function recipientOf({ seed, proposers }: ValidatorsWorld, validator: number): string {
  const [first = validator] = proposers.validators;
  return drawnAddress(seed, 'fees', proposers.validators.includes(validator) ? first : validator);
}

/** Most proposers buy their block from a builder. */
const BOUGHT = 0.75;

function drawnAmounts({ seed }: ValidatorsWorld, slot: number) {
  const amount = (salt: number): bigint => BigInt(between(10_000, 60_000, seed, slot, salt)) * GWEI;
  return { fees: amount(42), mev: unit(seed, slot, 40) < BOUGHT ? amount(43) : null };
}

/** Undefined: the slot has no block. */
function drawnPayload(world: ValidatorsWorld, slot: number): Payload | undefined {
  const { seed } = world;
  if (slot < 0 || isMissed(world, slot)) return undefined;
  const { fees, mev } = drawnAmounts(world, slot);
  const address = world.redirected.has(slot)
    ? drawnAddress(seed, 'stranger', slot)
    : recipientOf(world, proposerOf(world, slot));
  const own = { address, isContract: false };
  const builder = { address: drawnAddress(seed, 'builder', between(1, 5, seed, slot, 41)), isContract: false };
  return {
    slot,
    number: slot + BLOCK_NUMBER_OFFSET,
    hash: `0x${hash('sha256', `${seed} ${slot} execution`)}`,
    root: rootOf(world, slot),
    fees: { amount: fees, recipient: mev === null ? own : builder },
    mev: mev === null ? null : { amount: mev, recipient: own },
  };
}
