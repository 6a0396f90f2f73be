import { CHAIN_NAMES, type Chain } from '../facts/chain.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { type SandboxAnswer, type SandboxRequest, textAnswer } from './answer.ts';
import { OFFENCES } from './chain-world.ts';
import { Refusal } from './refusal.ts';
import { EXISTING } from './validators.ts';
import type { Sandbox } from './world.ts';

/** Carries out an order and returns what has happened, in a line. @throws Refusal */
type Order = (sandbox: Sandbox, given: URLSearchParams, now: UnixMs) => string;

/** Changes and faults for trying out alerts, by path. docs/alerts.md lists them with their alerts. */
const ORDERS: Readonly<Record<string, Order>> = {
  '/-/silence': (sandbox, given, now) => {
    const name = machineIn(given);
    sandbox.silence(name, now);
    return `${name} has stopped pushing`;
  },
  '/-/wake': (sandbox, given, now) => {
    const name = machineIn(given);
    sandbox.wake(name, now);
    return `${name} pushes again`;
  },
  '/-/fill-disk': (sandbox, given, now) => {
    const name = machineIn(given);
    sandbox.fillDisk(name, now);
    return `the disk of ${name} is almost full`;
  },
  '/-/slash': (sandbox, given, now) => {
    const chain = chainIn(given);
    const validators = (given.get('validators') ?? '').split(',').map((one) => indexFrom('validators', one));
    const offence = OFFENCES.find((name) => name === (given.get('offence') ?? 'attester'));
    if (!offence) throw new Refusal(400, 'offence: expected attester or proposer');
    const slot = sandbox.slash(chain, validators, now, offence);
    return `slot ${slot} of ${chain} slashes ${validators.join(', ')}`;
  },
  '/-/miss-proposal': (sandbox, given, now) => {
    const [chain, validator] = validatorIn(given);
    const slot = sandbox.missProposal(chain, validator, now);
    return `validator ${validator} of ${chain} misses slot ${slot}, which is final in 7 to 13 minutes${noteOn(sandbox, chain, validator)}`;
  },
  '/-/offline': (sandbox, given, now) => {
    const [chain, validator] = validatorIn(given);
    sandbox.takeOffline(chain, validator, now);
    return `validator ${validator} of ${chain} does not attest any more: the service reports this in 13 to 20 minutes${noteOn(sandbox, chain, validator)}`;
  },
  '/-/online': (sandbox, given, now) => {
    const [chain, validator] = validatorIn(given);
    sandbox.bringBack(chain, validator, now);
    return `validator ${validator} of ${chain} attests again`;
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

/** Executes the order at this path; undefined if the path is not that of an order. */
export function control(
  sandbox: Sandbox,
  request: Pick<SandboxRequest, 'method' | 'path'>,
  now: UnixMs,
): SandboxAnswer | undefined {
  const [path = '', query] = request.path.split('?', 2);
  if (!path.startsWith('/-/')) return undefined;
  const order = Object.hasOwn(ORDERS, path) ? ORDERS[path] : undefined;
  if (!order) return textAnswer(404, `unknown order ${path}, expected one of ${Object.keys(ORDERS).join(', ')}`);
  if (request.method !== 'POST') return textAnswer(405, `${path} requires POST`);
  try {
    return textAnswer(200, order(sandbox, new URLSearchParams(query), now));
  } catch (error) {
    if (error instanceof Refusal) return textAnswer(error.status, error.message);
    throw error;
  }
}

function machineIn(given: URLSearchParams): string {
  return given.get('machine') ?? '';
}

function chainIn(given: URLSearchParams): Chain {
  const chain = CHAIN_NAMES.find((name) => name === (given.get('chain') ?? 'mainnet'));
  if (!chain) throw new Refusal(400, `chain: expected ${CHAIN_NAMES.join(' or ')}`);
  return chain;
}

function validatorIn(given: URLSearchParams): [Chain, number] {
  return [chainIn(given), indexFrom('validator', given.get('validator') ?? '')];
}

/** The demo tells the sandbox the watched validators. */
function noteOn({ chains }: Sandbox, chain: Chain, validator: number): string {
  const { validators: watched } = chains[chain].proposers;
  if (watched.length === 0 || watched.includes(validator)) return '';
  return `. Only a watched validator causes an alert, such as ${watched[0]}`;
}

function indexFrom(parameter: string, text: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) >= EXISTING)
    throw new Refusal(400, `${parameter}: expected an index such as 12345, below ${EXISTING}`);
  return Number(text);
}
