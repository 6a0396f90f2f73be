import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Identifier } from '../../src/facts/watch.ts';
import { spend } from '../../src/sandbox/account.ts';
import { answer } from '../../src/sandbox/answer.ts';
import type { paidTo } from '../../src/sandbox/blocks.ts';
import type { statusRow } from '../../src/sandbox/validators.ts';
import type { Payload, Payment, Validator } from '../../src/sandbox/validators-world.ts';
import { Sandbox } from '../../src/sandbox/world.ts';

/** A row of the status of validators, and the payment for a block, in the form of the sandbox. */
export type Row = ReturnType<typeof statusRow>;
type Paid = ReturnType<typeof paidTo>;

interface Recorded<D> {
  readonly what: string;
  readonly date: string;
  /** Requests of the month. */
  readonly left: string;
  readonly path: string;
  readonly asked: { readonly validator?: { readonly validator_identifiers: readonly Identifier[] } };
  readonly answer: {
    readonly data: D;
    readonly range: { readonly epoch: { readonly start: number; readonly end: number } };
  };
}

/** The headers that all recorded answers share. */
const HEADERS = {
  'content-type': 'application/json',
  'ratelimit-bucket': 'default',
  'ratelimit-limit': '1',
  'ratelimit-remaining': '0',
  'ratelimit-reset': '1',
  'ratelimit-validapikey': 'true',
  'ratelimit-window': 'second',
  'x-beaconchain-version': '26.17.2',
  'x-ratelimit-limit-second': '1',
  ...perLongWindow('limit', '1000'),
  'x-ratelimit-remaining-second': '0',
};

function perLongWindow(what: string, value: string): Record<string, string> {
  return Object.fromEntries(
    ['minute', 'hour', 'day', 'month'].map((window) => [`x-ratelimit-${what}-${window}`, value]),
  );
}

export function fileOf<T>(name: string): T {
  return JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8'));
}

const ALL = fileOf<readonly Recorded<unknown>[]>('production.json').map((one) => ({
  ...one,
  headers: { ...HEADERS, date: one.date, ...perLongWindow('remaining', one.left) } as Record<string, string>,
}));

export type Exchange<D = unknown> = Recorded<D> & { readonly headers: Record<string, string> };

function exchangesOf<D>(path: string): readonly Exchange<D>[] {
  return ALL.filter((one) => one.path === `/api/v2/ethereum/${path}`) as readonly Exchange<D>[];
}

export const OF_STATUS = exchangesOf<readonly Row[]>('validators');
export const OF_BLOCKS = exchangesOf<Paid>('block/rewards');

export function timeOf({ date }: Exchange): number {
  return Date.parse(date);
}

/** The answer of a sandbox with the recorded account, validators and blocks to the recorded request. */
export function saidByWorld(exchange: Exchange) {
  const { path, asked, left } = exchange;
  const now = timeOf(exchange);
  const sandbox = new Sandbox({ key: 'the-key', plan: 'free_trial' });
  spend(sandbox.account, 999 - Number(left), now - 2_000);
  const { validators, payloads } = sandbox.chains.mainnet;
  const rows = OF_STATUS.find((one) => one === exchange)?.answer.data ?? [];
  validators.push(...rows.map(validatorOf));
  const paid = OF_BLOCKS.find((one) => one === exchange)?.answer.data;
  if (paid) payloads.push(payloadOf(paid));
  const headers = { authorization: 'Bearer the-key', 'content-type': 'application/json' };
  return answer(sandbox, { method: 'POST', path, headers, body: JSON.stringify(asked) }, now);
}

/** A slashed validator leaves five epochs later, or when its turn comes. */
function validatorOf({ validator, slashed, withdrawal_credentials, life_cycle_epochs, balances }: Row): Validator {
  const { activation_eligibility: eligibility, ...life } = life_cycle_epochs;
  return {
    index: validator.index,
    publicKey: validator.public_key,
    life: { eligibility, ...life },
    slashedAt: slashed ? Number(life.exit) - 5 : null,
    credentials: withdrawal_credentials,
    balances: { current: BigInt(balances.current), effective: BigInt(balances.effective) },
  };
}

function payloadOf({ execution_reference, consensus_reference, priority_fees, mev }: Paid): Payload {
  const { block: number, hash } = execution_reference;
  const { slot, block_root: root } = consensus_reference;
  return { number, hash, slot, root, fees: paymentOf(priority_fees), mev: mev && paymentOf(mev) };
}

function paymentOf({ amount, recipient: { address, is_contract: isContract } }: Paid['priority_fees']): Payment {
  return { amount: BigInt(amount), recipient: { address, isContract } };
}
