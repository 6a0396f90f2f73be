import { hash } from 'node:crypto';
import { type Chain, SLOTS_PER_EPOCH } from '../facts/chain.ts';
import { between, unit } from '../toolkit/lib/random.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { selected } from './body.ts';
import { type ChainWorld, epochOf, headSlot, isMissed, proposerOf, SEATS, slashedInBlock } from './chain-world.ts';
import { Refusal } from './refusal.ts';
import type { Sandbox } from './world.ts';

/** GET /api/v1/epoch/{epoch}/slots (api-facts 5.1). */
export function epochSlots({ chains }: Sandbox, chain: Chain, selector: string, now: UnixMs): string {
  const head = headSlot(chain, now);
  const latest = epochOf(head);
  const epoch = selected(selector, { latest, finalized: finalizedEpoch(head) }, 'invalid epoch parameter');
  if (epoch > latest) throw new Refusal(400, `epoch is in the future. The latest epoch is ${latest}`);
  const first = epoch * SLOTS_PER_EPOCH;
  const slots = Array.from({ length: SLOTS_PER_EPOCH }, (_, i) => first + i).filter((slot) => slot <= head);
  return JSON.stringify({ status: 'OK', data: slots.map((slot) => rowOf(chains[chain], slot, head)) });
}

function finalizedEpoch(head: number): number {
  return Math.max(0, epochOf(head) - 2);
}

function rowOf(world: ChainWorld, slot: number, head: number): object {
  const position = { slot, epoch: epochOf(slot), proposer: proposerOf(world, slot) };
  const block = blockOf(world, slot);
  if (!isMissed(world, slot)) return { ...position, ...block, status: '1' };
  const isFinal = epochOf(slot) <= finalizedEpoch(head);
  // A missed slot looks scheduled until finality, and its root is a placeholder (api-facts 5.1).
  return { ...position, ...withoutBlock(block), status: isFinal ? '2' : '0', blockroot: isFinal ? '0x01' : '0x00' };
}

/** Execution block number minus slot, about that of mainnet in 2025. */
export const BLOCK_NUMBER_OFFSET = 10_774_538;
const GAS_LIMIT = 60_000_000;
/** The bits of a sync committee. */
const ALL_SEATS = (1n << BigInt(SEATS)) - 1n;

/** The fields that only a block has. */
function blockOf(world: ChainWorld, slot: number): object {
  const { seed } = world;
  const id = [seed, slot, 100];
  const silent = between(0, 15, 1, ...id);
  return {
    blockroot: rootOf(seed, slot),
    parentroot: rootOf(seed, previousBlock(world, slot)),
    attestationscount: between(5, 8, 3, ...id),
    attesterslashingscount: slashedInBlock(world, slot, 'attester').length > 0 ? 1 : 0,
    proposerslashingscount: slashedInBlock(world, slot, 'proposer').length,
    depositscount: 0,
    voluntaryexitscount: unit(4, ...id) < 0.05 ? between(1, 16, 5, ...id) : 0,
    withdrawalcount: 16,
    syncaggregate_bits: `0x${((ALL_SEATS >> BigInt(silent)) << BigInt(silent)).toString(16).padStart(SEATS / 4, '0')}`,
    syncaggregate_participation: (SEATS - silent) / SEATS,
    // A daily wave between 0.3 and 1.9 gwei, with noise.
    exec_base_fee_per_gas: Math.round(1e9 * (1 + 0.7 * Math.sin(slot / 1146) + 0.2 * unit(seed, slot, 101))),
    exec_block_number: slot + BLOCK_NUMBER_OFFSET,
    exec_gas_limit: GAS_LIMIT,
    exec_gas_used: between(0.25 * GAS_LIMIT, 0.75 * GAS_LIMIT, 11, ...id),
    exec_transactions_count: between(80, 400, 12, ...id),
  };
}

/** The same fields without a block: counts are 0, the rest is null (api-facts 5.1). */
function withoutBlock(block: object): object {
  const names = Object.keys(block);
  return Object.fromEntries(names.map((name) => [name, /count$|_participation$/.test(name) ? 0 : null]));
}

function previousBlock(world: ChainWorld, slot: number): number {
  let previous = slot - 1;
  while (previous > 0 && isMissed(world, previous)) previous -= 1;
  return previous;
}

/** The root of a block. Each fork has another one. */
export function rootOf(seed: number, slot: number, fork = 0): string {
  return `0x${hash('sha256', `${seed} ${slot} ${fork}`)}`;
}

/**
 * GET /api/v1/slot/{slot}/attesterslashings or proposerslashings. Only a number: `latest` is documented and refused, a
 * future slot has no slashings (api-facts 5.2).
 * @param read The slashings of the block at a slot, without the fields that name the block
 */
export function slashingsOfSlot(read: (world: ChainWorld, slot: number) => readonly object[]) {
  return ({ chains }: Sandbox, chain: Chain, selector: string, now: UnixMs): string => {
    const slot = selected(selector, {}, 'invalid slot number provided');
    const world = chains[chain];
    const hasBlock = slot <= headSlot(chain, now) && !isMissed(world, slot);
    const block = { block_root: rootOf(world.seed, slot), block_slot: slot };
    const found = hasBlock ? read(world, slot) : [];
    const data = found.map((one, block_index) => ({ block_index, ...block, ...one }));
    return JSON.stringify({ status: 'OK', data });
  };
}

/** Proposer slashings (api-facts 8.1). */
export function proposerSlashings(world: ChainWorld, slot: number): object[] {
  return slashedInBlock(world, slot, 'proposer').map((proposerindex) => ({ proposerindex }));
}

/** An attester slashing (api-facts 5.2): a double vote, two slots before the block that contains it. */
export function attesterSlashings(world: ChainWorld, slot: number): object[] {
  const { seed } = world;
  const slashed = slashedInBlock(world, slot, 'attester').toSorted((a, b) => a - b);
  if (slashed.length === 0) return [];
  const voted = slot - 2;
  const target = epochOf(voted);
  const source = target - 1;
  const votes = [0, 1].map((fork) => ({
    beaconblockroot: rootOf(seed, voted, fork),
    // Committees are merged since Electra (api-facts 8).
    index: 0,
    indices: slashed,
    slot: voted,
    source_epoch: source,
    source_root: rootOf(seed, source * SLOTS_PER_EPOCH),
    target_epoch: target,
    target_root: rootOf(seed, target * SLOTS_PER_EPOCH),
  }));
  const fields = votes.flatMap((vote, i) =>
    Object.entries(vote).map(([field, value]) => [`attestation${i + 1}_${field}`, value]),
  );
  return [Object.fromEntries(fields)];
}
