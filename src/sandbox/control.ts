import { CHAIN_NAMES, type Chain, epochTime } from '../facts/chain.ts';
import { columns } from '../toolkit/flags/columns.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { type SandboxAnswer, type SandboxRequest, textAnswer } from './answer.ts';
import { type Block, blocksAt, type ChainWorld, headEpoch, headSlot, OFFENCES, proposerOf } from './chain-world.ts';
import { silence, wake } from './machines.ts';
import type { SimulatedMachine } from './machines-records.ts';
import { Refusal } from './refusal.ts';
import { EXISTING, validatorAt } from './validator.ts';
import type { Sandbox } from './world.ts';

/** Applies a change and describes the result in a line. A change that is there already is not made again. @throws Refusal */
type Order = (sandbox: Sandbox, given: URLSearchParams, now: UnixMs) => string;

interface Row {
  readonly example: string;
  readonly about: string;
  readonly apply: Order;
}

/** Changes and faults for trying out alerts, by path. docs/alerts.md lists them with their alerts. */
const ORDERS: Readonly<Record<string, Row>> = {
  '/-/silence': {
    example: 'machine=node-a',
    about: 'the machine stops pushing',
    apply: (sandbox, given, now) => {
      const machine = machineIn(sandbox, given);
      silence(machine, now);
      return `${machine.name} has stopped pushing`;
    },
  },
  '/-/wake': {
    example: 'machine=node-a',
    about: 'the machine pushes again',
    apply: (sandbox, given, now) => {
      const machine = machineIn(sandbox, given);
      wake(machine, now);
      return `${machine.name} pushes again`;
    },
  },
  '/-/fill-disk': {
    example: 'machine=node-a',
    about: 'the disk of the machine is almost full',
    apply: (sandbox, given, now) => {
      const machine = machineIn(sandbox, given);
      machine.diskFullSince ??= now;
      return `the disk of ${machine.name} is almost full`;
    },
  },
  '/-/slash': {
    example: 'validators=12345,12346',
    about: 'the next block slashes these validators; &offence=proposer: for a double proposal',
    apply: ({ chains }, given, now) => {
      const chain = chainIn(given);
      const { slashed } = chains[chain];
      const validators = (given.get('validators') ?? '').split(',').map((one) => indexFrom('validators', one));
      const offence = OFFENCES.find((name) => name === (given.get('offence') ?? 'attester'));
      if (!offence) throw new Refusal(400, 'offence: expected attester or proposer');
      const before = new Set(OFFENCES.flatMap((name) => [...slashed[name].values()].flat()));
      const fresh = [...new Set(validators)].filter((one) => !before.has(one));
      if (fresh.length === 0)
        return validators.map((one) => `validator ${one} of ${chain} is slashed already`).join(', ');
      const slot = nextFreeSlot(chains[chain], now);
      slashed[offence].set(slot, fresh);
      return `slot ${slot} of ${chain} slashes ${fresh.join(', ')}`;
    },
  },
  '/-/miss-proposal': {
    example: 'validator=12345',
    about: 'the validator misses its next proposal',
    apply: (sandbox, given, now) => {
      const { chain, validator, world, note } = validatorIn(sandbox, given);
      const ahead = [...world.missed].find(([at, who]) => who === validator && at > headSlot(chain, now));
      const slot = ahead?.[0] ?? nextFreeSlot(world, now);
      world.missed.set(slot, validator);
      return `validator ${validator} of ${chain} misses slot ${slot}, which is final in 7 to 13 minutes${note}`;
    },
  },
  '/-/offline': {
    example: 'validator=12345',
    about: 'the validator stops attesting',
    apply: (sandbox, given, now) => {
      const { chain, validator, world, note } = validatorIn(sandbox, given);
      const until = Number.POSITIVE_INFINITY;
      if (world.silences.some((one) => one.validator === validator && one.until === until))
        return `validator ${validator} of ${chain} is offline already`;
      world.silences.push({ validator, from: now, until });
      return `validator ${validator} of ${chain} stops attesting: the service reports this in 13 to 20 minutes${note}`;
    },
  },
  '/-/online': {
    example: 'validator=12345',
    about: 'the validator attests again',
    apply: (sandbox, given, now) => {
      const { chain, validator, world } = validatorIn(sandbox, given);
      const silences = world.silences.filter((one) => one.validator === validator && one.until > now);
      for (const silence of silences) silence.until = now;
      return `validator ${validator} of ${chain} attests again`;
    },
  },
  '/-/miss': {
    example: 'validator=12345&epochs=3',
    about: 'the validator misses the attestations of the next epochs',
    apply: (sandbox, given, now) => {
      const { chain, validator, world, note } = validatorIn(sandbox, given);
      const epochs = numberFrom('epochs', given.get('epochs') ?? '1', MAX_MISSED);
      const first = headEpoch(chain, now) + 1;
      const [from, until] = [first, first + epochs].map((epoch) => epochTime(chain, epoch) * 1000) as [UnixMs, UnixMs];
      const isOrdered = world.silences.some(
        (one) => one.validator === validator && one.from <= from && one.until >= until,
      );
      if (!isOrdered) world.silences.push({ validator, from, until });
      const last = first + epochs - 1;
      return `validator ${validator} of ${chain} misses the attestations of epochs ${first} to ${last}: each of them is final 13 to 20 minutes after its end${note}`;
    },
  },
  '/-/change-credentials': {
    example: 'validator=12349',
    about: 'the withdrawal credentials change from 0x00 to 0x01, or from 0x01 to 0x02',
    apply: (sandbox, given, now) => {
      const { chain, validator, world, note } = validatorIn(sandbox, given);
      const [shown, from] = [0, 1].map(
        (epochs) => validatorAt(world, validator, headEpoch(chain, now) + epochs)?.credentials.prefix,
      );
      if (shown !== from) return `the credentials of validator ${validator} of ${chain} change to ${from} already`;
      if (from === '0x02') throw new Refusal(400, `validator: expected one without 0x02, and ${validator} has it`);
      const to = from === '0x00' ? '0x01' : '0x02';
      world.changes.push({ validator, at: now, to });
      return `the credentials of validator ${validator} of ${chain} change from ${from} to ${to}: two answers report this in 7 to 20 minutes${note}`;
    },
  },
  '/-/redirect-fees': {
    example: 'chain=mainnet',
    about: 'the next block of a watched validator pays a stranger',
    apply: ({ chains }, given, now) => {
      const chain = chainIn(given);
      const world = chains[chain];
      const { validators: watched } = world.proposers;
      const isOther = (at: number): boolean => watched.length > 0 && !watched.includes(proposerOf(world, at));
      let slot = nextFreeSlot(world, now);
      while (isOther(slot)) slot = nextFreeSlot(world, now, slot + 1);
      world.redirected.add(slot);
      return `slot ${slot} of ${chain}, of validator ${proposerOf(world, slot)}, pays a stranger, which is final in 13 to 20 minutes`;
    },
  },
  '/-/revoke': {
    example: '',
    about: 'the subscription ends',
    apply: ({ account }) => {
      account.isRevoked = true;
      return 'access is revoked';
    },
  },
  '/-/grant': {
    example: '',
    about: 'the subscription is renewed',
    apply: ({ account }) => {
      account.isRevoked = false;
      return 'access is granted';
    },
  },
};

function listOfOrders(): string {
  const rows = Object.entries(ORDERS).map(([path, { example, about }]) => [
    `POST ${[path, example].filter(Boolean).join('?')}`,
    about,
  ]);
  return [
    'Orders for the simulated service, with curl -X POST; &chain=hoodi for the other chain:',
    ...columns(rows),
  ].join('\n');
}

/** Executes the order at this path, or lists all of them at `/`; undefined for the paths of the API. */
export function control(
  sandbox: Sandbox,
  request: Pick<SandboxRequest, 'method' | 'path'>,
  now: UnixMs,
): SandboxAnswer | undefined {
  const [path = '', query] = request.path.split('?', 2);
  if (path === '/') return textAnswer(200, listOfOrders());
  if (!path.startsWith('/-/')) return undefined;
  const order = Object.hasOwn(ORDERS, path) ? ORDERS[path] : undefined;
  if (!order) return textAnswer(404, `unknown order ${path}, expected one of ${Object.keys(ORDERS).join(', ')}`);
  if (request.method !== 'POST') return textAnswer(405, `${path} requires POST`);
  try {
    return textAnswer(200, order.apply(sandbox, new URLSearchParams(query), now));
  } catch (error) {
    if (error instanceof Refusal) return textAnswer(error.status, error.message);
    throw error;
  }
}

function machineIn({ fleet: { machines } }: Sandbox, given: URLSearchParams): SimulatedMachine {
  const machine = machines.get(given.get('machine') ?? '');
  if (!machine) throw new Refusal(400, `machine: expected one of ${[...machines.keys()].join(', ')}`);
  return machine;
}

function chainIn(given: URLSearchParams): Chain {
  const chain = CHAIN_NAMES.find((name) => name === (given.get('chain') ?? 'mainnet'));
  if (!chain) throw new Refusal(400, `chain: expected ${CHAIN_NAMES.join(' or ')}`);
  return chain;
}

/** The note says which validators cause an alert. The demo tells the sandbox the watched ones. */
function validatorIn({ chains }: Sandbox, given: URLSearchParams) {
  const chain = chainIn(given);
  const validator = indexFrom('validator', given.get('validator') ?? '');
  const world = chains[chain];
  const { validators: watched } = world.proposers;
  const isWatched = watched.length === 0 || watched.includes(validator);
  const note = isWatched ? '' : `. Only a watched validator causes an alert, such as ${watched[0]}`;
  return { chain, validator, world, note };
}

/** The epochs of a day. */
const MAX_MISSED = 225;

function numberFrom(parameter: string, text: string, max: number): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1 || Number(text) > max)
    throw new Refusal(400, `${parameter}: expected a number from 1 to ${max}`);
  return Number(text);
}

function indexFrom(parameter: string, text: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) >= EXISTING)
    throw new Refusal(400, `${parameter}: expected an index such as 12345, below ${EXISTING}`);
  return Number(text);
}

/** The next slot with a block that slashes nobody and can still be changed: that of the current slot has been sent. */
function nextFreeSlot(world: ChainWorld, now: UnixMs, from = headSlot(world.chain, now) + 2): number {
  const isFree = ([block]: readonly Block[]): boolean =>
    block !== undefined && block.attesterSlashings.length + block.slashedProposers.length === 0;
  let slot = from;
  while (!isFree(blocksAt(world, slot))) slot += 1;
  return slot;
}
