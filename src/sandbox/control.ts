import { CHAIN_NAMES, type Chain } from '../lib/chain.ts';
import type { UnixMs } from '../lib/time.ts';
import type { SandboxAnswer, SandboxRequest } from './answer.ts';
import type { Sandbox } from './world.ts';

/** The order is invalid; the message says what was expected. */
class BadOrder extends Error {
  override readonly name = 'BadOrder';
}

type Order = (sandbox: Sandbox, given: URLSearchParams, now: UnixMs) => string;

/** Faults with which to try out alerts, by path. */
const ORDERS: Readonly<Record<string, Order>> = {
  '/-/silence': (sandbox, given, now) => {
    const name = machineIn(sandbox, given);
    sandbox.silence(name, now);
    return `${name} pushes nothing any more`;
  },
  '/-/wake': (sandbox, given, now) => {
    const name = machineIn(sandbox, given);
    sandbox.wake(name, now);
    return `${name} pushes again`;
  },
  '/-/fill-disk': (sandbox, given, now) => {
    const name = machineIn(sandbox, given);
    const free = Number(given.get('free') ?? '0.05');
    if (!(free >= 0 && free <= 1)) throw new BadOrder('free: expected a share from 0 to 1');
    sandbox.fillDisk(name, free, now);
    return `${free * 100} % of the disk of ${name} are free`;
  },
  '/-/slash': (sandbox, given, now) => {
    const chain = chainIn(given);
    const validators = (given.get('validators') ?? '').split(',');
    if (!validators.every(isIndex)) throw new BadOrder('validators: expected indices such as 12,345');
    const offence = given.get('offence') ?? 'attester';
    if (offence !== 'attester' && offence !== 'proposer') throw new BadOrder('offence: expected attester or proposer');
    const indices = validators.map(Number);
    const slot =
      offence === 'proposer' ? sandbox.slashProposers(chain, indices, now) : sandbox.slash(chain, indices, now);
    return `slot ${slot} of ${chain} slashes ${validators.join(', ')}`;
  },
  '/-/miss-proposal': (sandbox, given, now) => {
    const chain = chainIn(given);
    const validator = given.get('validator') ?? '';
    if (!isIndex(validator)) throw new BadOrder('validator: expected an index such as 12345');
    const slot = sandbox.missProposal(chain, Number(validator), now);
    return `validator ${validator} of ${chain} misses slot ${slot}, which is final in 7 to 13 minutes`;
  },
  '/-/revoke': (sandbox) => {
    sandbox.revoked = true;
    return 'access is revoked';
  },
  '/-/grant': (sandbox) => {
    sandbox.revoked = false;
    return 'access is granted';
  },
};

/** Carries out the order of this path; undefined for any other path. */
export function control(
  sandbox: Sandbox,
  request: Pick<SandboxRequest, 'method' | 'path'>,
  now: UnixMs,
): SandboxAnswer | undefined {
  const [path = '', query] = request.path.split('?', 2);
  const order = ORDERS[path];
  if (!order) return undefined;
  if (request.method !== 'POST') return text(405, `${path} takes POST`);
  try {
    return text(200, order(sandbox, new URLSearchParams(query), now));
  } catch (error) {
    if (error instanceof BadOrder) return text(400, error.message);
    throw error;
  }
}

function machineIn({ fleet }: Sandbox, given: URLSearchParams): string {
  const names = [...fleet.machines.keys()];
  const name = given.get('machine') ?? '';
  if (!names.includes(name)) throw new BadOrder(`machine: expected one of ${names.join(', ')}`);
  return name;
}

function chainIn(given: URLSearchParams): Chain {
  const chain = CHAIN_NAMES.find((name) => name === (given.get('chain') ?? 'mainnet'));
  if (!chain) throw new BadOrder(`chain: expected ${CHAIN_NAMES.join(' or ')}`);
  return chain;
}

function isIndex(value: string): boolean {
  return /^\d{1,9}$/.test(value);
}

function text(status: number, body: string): SandboxAnswer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: `${body}\n` };
}
