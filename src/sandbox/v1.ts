import { type Chain, SLOTS_PER_EPOCH, slotTime } from '../facts/chain.ts';
import { seedOf, unit } from '../toolkit/lib/random.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { selected } from './body.ts';
import {
  type AttesterSlashing,
  type Block,
  blocksAt,
  type ChainWorld,
  drawnBlock,
  epochOf,
  finalizedEpoch,
  headOf,
  type IndexedAttestation,
  type Offence,
  proposerOf,
  SEATS,
} from './chain-world.ts';
import { Refusal } from './refusal.ts';
import type { Sandbox } from './world.ts';

type Fields = Readonly<Record<string, unknown>>;

/** GET /api/v1/epoch/{epoch}/slots (api-facts 5.1). */
export function epochSlots({ chains }: Sandbox, chain: Chain, selector: string, now: UnixMs): string {
  const world = chains[chain];
  const latest = epochOf(headOf(world, now));
  const words = { latest, finalized: finalizedEpoch(world, now) };
  const epoch = selected(selector, words, 'invalid epoch parameter');
  if (epoch > latest) throw new Refusal(400, `epoch is in the future. The latest epoch is ${latest}`);
  return JSON.stringify({ status: 'OK', data: rowsOfEpoch(world, epoch, now) });
}

/** The rows of the slots of an epoch that the service knows, ascending. */
export function rowsOfEpoch(world: ChainWorld, epoch: number, now: UnixMs): Fields[] {
  const head = headOf(world, now);
  const slots = Array.from({ length: SLOTS_PER_EPOCH }, (_, i) => epoch * SLOTS_PER_EPOCH + i);
  return slots.filter((slot) => slot <= head).flatMap((slot) => rowsOfSlot(world, slot, now));
}

/** The rows of a slot: one for each of its blocks, or one for none. */
export function rowsOfSlot(world: ChainWorld, slot: number, now: UnixMs): Fields[] {
  const position = { slot, epoch: epochOf(slot) };
  const blocks = blocksAt(world, slot);
  if (blocks.length > 0) {
    const isTied = blocks.some(({ isCanonical }) => isCanonical) && world.isTied(slot);
    return blocks.map((block) => ({
      ...position,
      proposer: block.proposer,
      ...fieldsOf(world, slot, block),
      status: block.isCanonical || isTied ? '1' : '3',
    }));
  }
  const isFinal = position.epoch <= finalizedEpoch(world, now);
  const nothing = withoutBlock(fieldsOf(world, slot, drawnBlock(world, slot)));
  // A missed slot looks scheduled until finality, and its root is a placeholder (api-facts 5.1).
  const rest = { status: isFinal ? '2' : '0', blockroot: isFinal ? '0x01' : '0x00' };
  return [{ ...position, proposer: proposerOf(world, slot), ...nothing, ...rest }];
}

/** Execution block number minus slot, about that of mainnet in 2025. */
export const BLOCK_NUMBER_OFFSET = 10_774_538;
const GAS_LIMIT = 60_000_000;

/** The fields that only a block has. */
function fieldsOf({ chain, seed }: ChainWorld, slot: number, block: Block): Fields {
  const { root, signers } = block;
  return {
    blockroot: root,
    parentroot: block.parent,
    stateroot: root,
    signature: signatureIn(root),
    randaoreveal: signatureIn(root),
    graffiti: root,
    graffiti_text: '',
    attestationscount: block.attestations,
    attesterslashingscount: block.attesterSlashings.length,
    proposerslashingscount: block.slashedProposers.length,
    depositscount: block.deposits,
    voluntaryexitscount: block.voluntaryExits,
    withdrawalcount: block.withdrawals,
    eth1data_blockhash: root,
    eth1data_depositcount: 2_045_305,
    eth1data_depositroot: root,
    syncaggregate_bits: signers,
    syncaggregate_participation: signers === null ? null : signing(signers) / SEATS,
    syncaggregate_signature: signers === null ? null : signatureIn(root),
    // A daily wave between 0.3 and 1.9 gwei, with noise.
    exec_base_fee_per_gas: Math.round(1e9 * (1 + 0.7 * Math.sin(slot / 1146) + 0.2 * unit(seed, slot, 101))),
    exec_block_number: slot + BLOCK_NUMBER_OFFSET,
    exec_gas_limit: GAS_LIMIT,
    exec_gas_used: block.gasUsed,
    exec_timestamp: slotTime(chain, slot),
    exec_transactions_count: block.transactions,
  };
}

/** The same fields without a block: counts are 0, the rest is null (api-facts 5.1). */
function withoutBlock(block: Fields): Fields {
  const zero = (name: string) => (/count$|_participation$/.test(name) ? 0 : null);
  return { ...Object.fromEntries(Object.keys(block).map((name) => [name, zero(name)])), graffiti_text: '' };
}

/** 96 bytes that differ with the block. */
function signatureIn(root: string): string {
  return `0x${root.slice(2).repeat(3)}`;
}

function signing(bits: string): number {
  let count = 0;
  for (const byte of Buffer.from(bits.slice(2), 'hex')) for (let rest = byte; rest > 0; rest &= rest - 1) count += 1;
  return count;
}

/**
 * GET /api/v1/slot/{slot}/attesterslashings or proposerslashings. `latest` is documented but refused, and a future slot has no
 * slashings (api-facts 5.2).
 */
export function slashingsOfSlot(offence: Offence) {
  return ({ chains }: Sandbox, chain: Chain, selector: string, now: UnixMs): string => {
    const slot = selected(selector, {}, 'invalid slot number provided');
    return JSON.stringify({ status: 'OK', data: recordsOfSlot(chains[chain], offence, slot, now) });
  };
}

/** The slashings of each block of a slot, those of orphaned blocks too. */
export function recordsOfSlot(world: ChainWorld, offence: Offence, slot: number, now: UnixMs): Fields[] {
  const blocks = slot <= headOf(world, now) ? blocksAt(world, slot) : [];
  return blocks.flatMap(({ root, attesterSlashings, slashedProposers }) => {
    const placed = (record: Fields, block_index: number) => ({
      block_index,
      block_root: root,
      block_slot: slot,
      ...record,
    });
    if (offence === 'proposer')
      return slashedProposers.map((index, i) => placed(proposerSlashing(index, slot, root), i));
    // The service lists the slashings of a block in reverse.
    return attesterSlashings.map((slashing, i) => placed(attesterSlashing(slashing, root), i)).toReversed();
  });
}

/** An attester slashing (api-facts 5.2). Each block has it in an order of its own, and with other signatures. */
export function attesterSlashing(slashing: AttesterSlashing, root: string): Fields {
  const isTurned = seedOf(root) % 2 === 1;
  const turned = <T>(list: readonly T[]): readonly T[] => (isTurned ? list.toReversed() : list);
  const sides = turned(slashing).map((vote) => voteFields(vote, turned(vote.validators), root));
  return numbered('attestation', sides);
}

function voteFields(
  { slot, index, blockRoot, source, target }: IndexedAttestation,
  indices: readonly number[],
  root: string,
) {
  return {
    beaconblockroot: blockRoot,
    index,
    indices,
    signature: signatureIn(root),
    slot,
    source_epoch: source.epoch,
    source_root: source.root,
    target_epoch: target.epoch,
    target_root: target.root,
  };
}

/** A proposer slashing (api-facts 8.1): two headers of one slot. */
function proposerSlashing(proposerindex: number, including: number, root: string): Fields {
  const header = {
    slot: including - 2,
    parentroot: root,
    stateroot: root,
    bodyroot: root,
    signature: signatureIn(root),
  };
  return { proposerindex, ...numbered('header', [header, header]) };
}

/** The fields of two objects in one, such as `header1_slot` and `header2_slot`. */
function numbered(name: string, both: readonly Fields[]): Fields {
  const fields = both.flatMap((one, i) =>
    Object.entries(one).map(([field, value]) => [`${name}${i + 1}_${field}`, value]),
  );
  return Object.fromEntries(fields);
}
