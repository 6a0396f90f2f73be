import type { UnixMs } from '../toolkit/lib/time.ts';
import type { ChainWorld } from './chain-world.ts';

export const GWEI = 10n ** 9n;
export const ETHER = 10n ** 18n;

/** A chain with its validators and blocks. Lists filled by hand override the seed. Amounts are wei. */
export interface ValidatorsWorld extends ChainWorld {
  readonly validators: Validator[];
  readonly silences: Silence[];
  readonly changes: CredentialsChange[];
  /** The slots whose blocks pay a stranger. */
  readonly redirected: Set<number>;
  readonly payloads: Payload[];
  readonly queues: Queues;
}

/** What the service knows of a validator. Times are epochs. */
export interface Validator {
  /** Null while it is pending and has none. */
  readonly index: number | null;
  readonly publicKey: string;
  /** Null: not known yet. */
  readonly life: Readonly<Record<'eligibility' | 'activation' | 'exit' | 'withdrawable', number | null>>;
  readonly slashedAt: number | null;
  readonly credentials: Readonly<Record<'type' | 'prefix' | 'credential', string>> & {
    readonly address: string | null;
  };
  readonly balances: { readonly current: bigint; readonly effective: bigint };
}

/** When a validator does not attest. */
export interface Silence {
  readonly validator: number;
  readonly from: UnixMs;
  until: UnixMs;
}

/** When the withdrawal credentials of a validator change. */
export interface CredentialsChange {
  readonly validator: number;
  readonly at: UnixMs;
  readonly to: '0x01' | '0x02';
}

/** The payload of a block on the execution layer, and what its proposer was paid. */
export interface Payload {
  readonly slot: number;
  readonly number: number;
  readonly hash: string;
  readonly root: string;
  readonly fees: Payment;
  /** What the builder of the block paid, who keeps the fees. Null: the proposer built the block, and keeps the fees. */
  readonly mev: Payment | null;
}

export interface Payment {
  readonly amount: bigint;
  readonly recipient: { readonly address: string; readonly isContract: boolean };
}

interface Queue {
  readonly count: number;
  readonly balance: bigint;
}

export interface Queues extends Readonly<Record<'deposits' | 'topups' | 'exits' | 'withdrawals', Queue>> {
  /** What leaves a queue in an epoch. */
  readonly churn: bigint;
}

/** About those of mainnet. */
export const QUEUES: Queues = {
  deposits: { count: 1_200, balance: 38_400n * ETHER },
  topups: { count: 250, balance: 1_600n * ETHER },
  exits: { count: 400, balance: 12_800n * ETHER },
  withdrawals: { count: 30, balance: 480n * ETHER },
  churn: 256n * ETHER,
};
