import { CHAIN_NAMES, type Chain } from '../lib/chain.ts';
import { PLANS } from '../lib/plans.ts';
import type { UnixMs } from '../lib/time.ts';
import type { Sandbox } from './world.ts';

/** The order is invalid; the message says what was expected. */
export class BadOrder extends Error {
  override readonly name = 'BadOrder';
}

export interface Order {
  readonly about: string;
  /** What is expected of each parameter. */
  readonly parameters: Readonly<Record<string, string>>;
  /** An example query of the order. */
  readonly example: string;
  /** Returns what has happened, in a line. @throws BadOrder */
  readonly carryOut: (sandbox: Sandbox, given: URLSearchParams, now: UnixMs) => string;
}

const MACHINE = { machine: 'the name of a machine' };
const CHAIN = { chain: `${CHAIN_NAMES.join(' or ')} (default mainnet)` };
const PLAN_NAMES = Object.keys(PLANS) as (keyof typeof PLANS)[];

/** Changes and faults for trying out alerts, by path. docs/internals/sandbox.md has them as a table. */
export const ORDERS: Readonly<Record<string, Order>> = {
  '/-/silence': {
    about: 'Makes a machine stop pushing.',
    parameters: MACHINE,
    example: 'machine=node-a',
    carryOut: (sandbox, given, now) => {
      const name = machineIn(sandbox, given);
      sandbox.silence(name, now);
      return `${name} has stopped pushing`;
    },
  },
  '/-/wake': {
    about: 'Makes a silent machine push again.',
    parameters: MACHINE,
    example: 'machine=node-a',
    carryOut: (sandbox, given, now) => {
      const name = machineIn(sandbox, given);
      sandbox.wake(name, now);
      return `${name} pushes again`;
    },
  },
  '/-/fill-disk': {
    about: 'Fills or empties the disk of a machine.',
    parameters: { ...MACHINE, free: 'the free share of the disk, from 0 to 1 (default 0.05)' },
    example: 'machine=node-a&free=0.05',
    carryOut: (sandbox, given, now) => {
      const name = machineIn(sandbox, given);
      const free = Number(given.get('free') ?? '0.05');
      if (!(free >= 0 && free <= 1)) throw new BadOrder('free: expected a share from 0 to 1');
      sandbox.fillDisk(name, free, now);
      return `${free * 100} % of the disk of ${name} is free`;
    },
  },
  '/-/slash': {
    about: 'Slashes validators in the next block.',
    parameters: {
      ...CHAIN,
      validators: 'indices, separated by commas',
      offence: 'attester or proposer (default attester)',
    },
    example: 'chain=mainnet&validators=12340,12341&offence=attester',
    carryOut: (sandbox, given, now) => {
      const chain = chainIn(given);
      const validators = (given.get('validators') ?? '').split(',');
      if (!validators.every(isIndex))
        throw new BadOrder('validators: expected indices separated by commas, such as 12340,12341');
      const offence = given.get('offence') ?? 'attester';
      if (offence !== 'attester' && offence !== 'proposer') {
        throw new BadOrder('offence: expected attester or proposer');
      }
      const indices = validators.map(Number);
      const slot =
        offence === 'proposer' ? sandbox.slashProposers(chain, indices, now) : sandbox.slash(chain, indices, now);
      return `slot ${slot} of ${chain} slashes ${validators.join(', ')}`;
    },
  },
  '/-/miss-proposal': {
    about: 'Assigns one of the next proposals to a validator, which misses it.',
    parameters: { ...CHAIN, validator: 'an index' },
    example: 'chain=mainnet&validator=12340',
    carryOut: (sandbox, given, now) => {
      const [chain, validator] = validatorIn(given);
      const slot = sandbox.missProposal(chain, validator, now);
      return `validator ${validator} of ${chain} misses slot ${slot}, which is final in 7 to 13 minutes`;
    },
  },
  '/-/offline': {
    about: 'Takes a validator offline. The service reports it two to three epochs later.',
    parameters: { ...CHAIN, validator: 'an index' },
    example: 'chain=mainnet&validator=12340',
    carryOut: (sandbox, given, now) => {
      const [chain, validator] = validatorIn(given);
      sandbox.takeOffline(chain, validator, now);
      return `validator ${validator} of ${chain} does not attest any more: the service reports this in 13 to 20 minutes`;
    },
  },
  '/-/online': {
    about: 'Brings a validator back online.',
    parameters: { ...CHAIN, validator: 'an index' },
    example: 'chain=mainnet&validator=12340',
    carryOut: (sandbox, given, now) => {
      const [chain, validator] = validatorIn(given);
      sandbox.bringBack(chain, validator, now);
      return `validator ${validator} of ${chain} attests again`;
    },
  },
  '/-/revoke': {
    about: 'Revokes access, as after the end of a trial: every request gets a 429 with limits of 0.',
    parameters: {},
    example: '',
    carryOut: (sandbox) => {
      sandbox.revoked = true;
      return 'access is revoked';
    },
  },
  '/-/grant': {
    about: 'Restores access.',
    parameters: {},
    example: '',
    carryOut: (sandbox) => {
      sandbox.revoked = false;
      return 'access is granted';
    },
  },
  '/-/fail': {
    about: 'Starts an outage: every request gets a 500.',
    parameters: {},
    example: '',
    carryOut: (sandbox) => {
      sandbox.outage = true;
      return 'every request gets a 500';
    },
  },
  '/-/recover': {
    about: 'Ends the outage.',
    parameters: {},
    example: '',
    carryOut: (sandbox) => {
      sandbox.outage = false;
      return 'the outage has ended';
    },
  },
  '/-/plan': {
    about: 'Changes the plan of the account.',
    parameters: { plan: `${PLAN_NAMES.join(', ')} (initially scale)` },
    example: 'plan=free_trial',
    carryOut: (sandbox, given) => {
      const plan = PLAN_NAMES.find((name) => name === given.get('plan'));
      if (!plan) throw new BadOrder(`plan: expected one of ${PLAN_NAMES.join(', ')}`);
      sandbox.plan = plan;
      return `the plan is ${plan}`;
    },
  },
  '/-/spend': {
    about: 'Uses requests as another user of the account. Plans with a quota report the rest in the headers.',
    parameters: { requests: 'a number from 1 to 1000000' },
    example: 'requests=200',
    carryOut: (sandbox, given, now) => {
      const requests = Number(given.get('requests'));
      if (!Number.isInteger(requests) || requests < 1 || requests > 1_000_000) {
        throw new BadOrder('requests: expected a number from 1 to 1000000');
      }
      sandbox.spend(requests, now);
      return `other users have used ${requests} requests`;
    },
  },
};

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

function validatorIn(given: URLSearchParams): [Chain, number] {
  const validator = given.get('validator') ?? '';
  if (!isIndex(validator)) throw new BadOrder('validator: expected an index such as 12345');
  return [chainIn(given), Number(validator)];
}

function isIndex(value: string): boolean {
  return /^\d{1,9}$/.test(value);
}
