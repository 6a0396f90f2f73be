import { CHAINS, type Chain } from '../../../src/facts/chain.ts';
import { failed, type SentRequest } from './fake-api.ts';

export type Fields = Record<string, unknown>;

/** The slot of a chain at a time in Unix ms. */
export function slotAt(chain: Chain, now: number): number {
  return Math.floor((now / 1000 - CHAINS[chain].genesis) / 12);
}

/** The root of the usual block of a slot, or of its block on another fork. */
export function rootOf(slot: number, fork = 0): string {
  return `0x${fork.toString(16)}${slot.toString(16).padStart(63, '0')}`;
}

/** One row of an epoch as the service sends it (api-facts 5.1). By default its block was proposed. */
export function row({ slot, status = '1', ...fields }: Fields & { slot: number }): Fields {
  const common = { slot, epoch: Math.floor(slot / 32), proposer: 965785, status, graffiti_text: '' };
  const proposed = status === '1' || status === '3';
  return { ...common, ...(proposed ? block(slot) : noBlock()), ...fields };
}

function block(slot: number): Fields {
  return {
    blockroot: rootOf(slot),
    parentroot: rootOf(slot - 1),
    attestationscount: 8,
    attesterslashingscount: 0,
    proposerslashingscount: 0,
    depositscount: 0,
    voluntaryexitscount: 0,
    withdrawalcount: 16,
    eth1data_depositcount: 2045305,
    syncaggregate_participation: 0.9921875,
    syncaggregate_bits: `0x${'ff'.repeat(64)}`,
    exec_base_fee_per_gas: 20662807983,
    exec_block_number: 19768739,
    exec_gas_limit: 30000000,
    exec_gas_used: 11704811,
    exec_timestamp: 1714487519,
    exec_transactions_count: 145,
  };
}

/** The fields of a missed or scheduled slot: nulls, zeros and a placeholder for the root. */
function noBlock(): Fields {
  return {
    blockroot: '0x00',
    parentroot: null,
    attestationscount: 0,
    attesterslashingscount: 0,
    proposerslashingscount: 0,
    depositscount: 0,
    voluntaryexitscount: 0,
    withdrawalcount: 0,
    eth1data_depositcount: 0,
    syncaggregate_participation: 0,
    exec_base_fee_per_gas: null,
    exec_block_number: null,
    exec_gas_limit: null,
    exec_gas_used: null,
    exec_timestamp: null,
    exec_transactions_count: 0,
  };
}

/** The first `count` slots of an epoch, proposed. `special` has fields of single slots, by index in the epoch. */
export function epochRows(epoch: number, special: Readonly<Record<number, Fields>> = {}, count = 32): Fields[] {
  return Array.from({ length: count }, (_, i) => row({ slot: epoch * 32 + i, ...special[i] }));
}

/** A double vote of these validators in the block of `slot` (api-facts 5.2). */
export function slashing(slot: number, validators: readonly number[], fields: Fields = {}): Fields {
  const attestation = (n: 1 | 2, beaconblockroot: string): Fields => ({
    [`attestation${n}_beaconblockroot`]: beaconblockroot,
    [`attestation${n}_index`]: 0,
    [`attestation${n}_indices`]: validators,
    [`attestation${n}_signature`]: '0xa1',
    [`attestation${n}_slot`]: 12571716,
    [`attestation${n}_source_epoch`]: 392865,
    [`attestation${n}_source_root`]: '0x51',
    [`attestation${n}_target_epoch`]: 392866,
    [`attestation${n}_target_root`]: '0x7a',
  });
  return {
    ...attestation(1, '0x4b50f711'),
    ...attestation(2, '0x2c262c5c'),
    block_index: 0,
    block_root: rootOf(slot),
    block_slot: slot,
    ...fields,
  };
}

/** The record of a slashing with its two attestations exchanged. */
export function exchanged(record: Fields): Fields {
  const other = (field: string): string =>
    field.replace(/^attestation([12])/, (_, n: string) => `attestation${3 - Number(n)}`);
  return Object.fromEntries(Object.entries(record).map(([field, value]) => [other(field), value]));
}

/** A chain as the v1 endpoints show it. */
export interface ChainView {
  readonly latest: number;
  readonly finalized: number;
  /** The rows of an epoch. undefined: the service refuses the request. */
  rows(epoch: number): readonly Fields[] | undefined;
  /** The slashing records of a slot. */
  records(slot: number): readonly Fields[];
  /** The records of proposers slashed in a slot (api-facts 8.1). */
  proposerRecords(slot: number): readonly Fields[];
  /** What the service says about the sync committee of a period. */
  committee?(period: number): unknown;
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

export function epochOf({ latest, finalized }: ChainView, asked: string): number {
  if (asked === 'latest') return latest;
  return asked === 'finalized' ? finalized : Number(asked);
}

/** The list that the service answers with. undefined: it refuses the request. */
export function listOf(chain: ChainView, asked: string): readonly Fields[] | undefined {
  const [kind, slot] = asked.split('/');
  if (slot === undefined) return chain.rows(epochOf(chain, asked));
  return kind === 'slot' ? chain.records(Number(slot)) : chain.proposerRecords(Number(slot));
}

/** The body of the answer. @throws RequestFailed where the service refuses the request, as the client does. */
export function chainAnswer(chain: ChainView, request: SentRequest): unknown {
  const asked = askedFor(request.path);
  const [kind, period] = asked.split('/');
  const data = kind === 'members' ? chain.committee?.(Number(period)) : listOf(chain, asked);
  if (!data) throw failed(request, 'bad_request');
  return { status: 'OK', data };
}
