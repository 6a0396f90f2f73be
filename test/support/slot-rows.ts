import type { ApiRequest } from '../../src/api/client.ts';
import { failed } from './fake-api.ts';

export type Fields = Record<string, unknown>;

/** The root of the usual block of a slot; `fork` names another block of the same slot. */
export function rootOf(slot: number, fork = 0): string {
  return `0x${fork.toString(16)}${slot.toString(16).padStart(63, '0')}`;
}

/** One row of an epoch as the service sends it (api-facts 5.1): proposed, unless `status` says otherwise. */
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
    exec_base_fee_per_gas: 20662807983,
    exec_block_number: 19768739,
    exec_gas_limit: 30000000,
    exec_gas_used: 11704811,
    exec_timestamp: 1714487519,
    exec_transactions_count: 145,
  };
}

/** A missed or scheduled slot: nulls, zeros and a placeholder for the root. */
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

/** The first `count` slots of an epoch, proposed; `special` gives fields of single ones, by index in the epoch. */
export function epochRows(epoch: number, special: Readonly<Record<number, Fields>> = {}, count = 32): Fields[] {
  return Array.from({ length: count }, (_, i) => row({ slot: epoch * 32 + i, ...special[i] }));
}

/** A double vote of these validators, included in the block of `slot` (api-facts 5.2). */
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

/** What the service knows of a chain. Epochs without rows answer 400. */
export class FakeChain {
  latest = 0;
  finalized = 0;
  readonly epochs = new Map<number, Fields[]>();
  /** Slashing records by slot; none is an empty list. */
  readonly slashings = new Map<number, Fields[]>();
  /** Likewise of proposers. */
  readonly proposerSlashings = new Map<number, Fields[]>();

  /** Adds proposed epochs up to `latest` where none are set, from the finalized one on. */
  grow(latest: number, finalized: number): void {
    const first = this.finalized === 0 ? finalized : this.finalized;
    this.latest = latest;
    this.finalized = finalized;
    for (let epoch = first; epoch <= latest; epoch += 1) {
      if (!this.epochs.has(epoch)) this.epochs.set(epoch, epochRows(epoch));
    }
  }

  /** Puts a slashing into the block of a slot, and announces it there. */
  slash(slot: number, validators: readonly number[], fields: Fields = {}): void {
    const records = [...(this.slashings.get(slot) ?? []), slashing(slot, validators, fields)];
    this.slashings.set(slot, records);
    this.change(slot, { attesterslashingscount: records.length });
  }

  /** Likewise slashings of these validators as proposers. */
  slashProposers(slot: number, validators: readonly number[]): void {
    this.proposerSlashings.set(
      slot,
      validators.map((proposerindex, block_index) => ({
        block_index,
        block_root: rootOf(slot),
        block_slot: slot,
        proposerindex,
        header1_slot: slot - 9,
        header2_slot: slot - 9,
      })),
    );
    this.change(slot, { proposerslashingscount: validators.length });
  }

  change(slot: number, fields: Fields): void {
    const rows = this.epochs.get(Math.floor(slot / 32)) ?? [];
    this.epochs.set(
      Math.floor(slot / 32),
      rows.map((one) => (one['slot'] === slot ? { ...one, ...fields } : one)),
    );
  }

  answer(request: ApiRequest): unknown {
    const [, kind, name] = /^\/api\/v1\/(epoch|slot)\/(\w+)\//.exec(request.path) ?? [];
    if (request.endpoint === 'proposer_slashings') {
      return { status: 'OK', data: this.proposerSlashings.get(Number(name)) ?? [] };
    }
    if (kind === 'slot') return { status: 'OK', data: this.slashings.get(Number(name)) ?? [] };
    const epoch = name === 'latest' ? this.latest : name === 'finalized' ? this.finalized : Number(name);
    const rows = this.epochs.get(epoch);
    if (!rows) throw failed(request, 'bad_request');
    return { status: 'OK', data: rows };
  }
}
