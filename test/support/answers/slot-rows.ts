import { CHAINS, type Chain } from '../../../src/facts/chain.ts';
import { type AttesterSlashing, type Block, drawnBlock, rootOf as rootIn } from '../../../src/sandbox/chain-world.ts';
import { attesterSlashing, rowsOfSlot } from '../../../src/sandbox/v1.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import type { SentRequest } from './fake-api.ts';
import { saidBy } from './known-request.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Each sandbox has this chain, if no other seed is given. */
const { mainnet: WORLD } = new Sandbox().chains;

/** The slot of a chain at a time in Unix ms. */
export function slotAt(chain: Chain, now: number): number {
  return Math.floor((now / 1000 - CHAINS[chain].genesis) / 12);
}

/** The root of the usual block of a slot, or of its block on another fork. */
export function rootOf(slot: number, fork = 0): string {
  return rootIn(WORLD, slot, fork);
}

/** A block that counts the same as every other, with these fields. */
export function usualBlock(slot: number, fields: Partial<Block> = {}): Block {
  return {
    ...drawnBlock(WORLD, slot),
    parent: rootOf(slot - 1),
    proposer: 965785,
    attesterSlashings: [],
    slashedProposers: [],
    attestations: 8,
    voluntaryExits: 0,
    transactions: 145,
    gasUsed: 11704811,
    signers: `0x${'ff'.repeat(64)}`,
    ...fields,
  };
}

/** One row of an epoch as the service sends it, with these fields. By default it is that of the usual block. */
export function row({ slot, status = '1', ...fields }: Fields & { slot: number }): Fields {
  const blocks = status === '1' || status === '3' ? [usualBlock(slot)] : [];
  const missed = new Map([[slot, 965785]]);
  const finalized = status === '2' ? Number.POSITIVE_INFINITY : -1;
  const [rendered] = rowsOfSlot({ ...WORLD, blocks: new Map([[slot, blocks]]), missed, finalized }, slot, 0);
  return { ...rendered, status, ...fields };
}

/** The first `count` slots of an epoch, proposed. `special` has fields of single slots, by index in the epoch. */
export function epochRows(epoch: number, special: Readonly<Record<number, Fields>> = {}, count = 32): Fields[] {
  return Array.from({ length: count }, (_, i) => row({ slot: epoch * 32 + i, ...special[i] }));
}

/** The double vote of api-facts 5.2, of these validators. */
export function doubleVote(validators: readonly number[]): AttesterSlashing {
  const [source, target] = [
    { epoch: 392865, root: '0x51' },
    { epoch: 392866, root: '0x7a' },
  ];
  const vote = (blockRoot: string) => ({ slot: 12571716, index: 0, blockRoot, source, target, validators });
  return [vote('0x4b50f711'), vote('0x2c262c5c')];
}

/** The record of that double vote in the block of `slot`, with these fields. */
export function slashing(slot: number, validators: readonly number[], fields: Fields = {}): Fields {
  const block = { block_index: 0, block_root: rootOf(slot), block_slot: slot };
  return { ...attesterSlashing(doubleVote(validators), '0x1'), ...block, ...fields };
}

/**
 * What a v1 path asks for: `latest`, `finalized`, the number of an epoch, `slot/N`, `names/N` for the proposers slashed in a
 * slot, or `members/N` for the sync committee of a period; empty for any other path.
 */
export function askedFor(path: string): string {
  const [, period] = /^\/api\/v1\/sync_committee\/(\w+)$/.exec(path) ?? [];
  if (period !== undefined) return `members/${period}`;
  const [, slot, kind] = /^\/api\/v1\/slot\/(\d+)\/(attester|proposer)slashings$/.exec(path) ?? [];
  if (slot !== undefined) return kind === 'attester' ? `slot/${slot}` : `names/${slot}`;
  return /^\/api\/v1\/epoch\/(\w+)\/slots$/.exec(path)?.[1] ?? '';
}

/** The list that a sandbox answers with. @throws Refusal */
export function chainAnswer(sandbox: Sandbox, request: SentRequest): readonly Fields[] {
  return (saidBy(sandbox, { path: request.path }, 0) as { data: readonly Fields[] }).data;
}
