import { hash } from 'node:crypto';
import { epochTime } from '../facts/chain.ts';
import { between } from '../toolkit/lib/random.ts';
import { type ChainWorld, epochOf } from './chain-world.ts';
import { ETHER, GWEI, type Validator, type ValidatorsWorld } from './validators-world.ts';

/** Each chain has about this many validators. */
export const EXISTING = 2_000_000;
const AT_GENESIS = 1_000_000;
const JOINED_PER_EPOCH = 32;
const WAITED_EPOCHS = 5;

/** From a slashing to the exit, with an empty queue, and to the withdrawal (consensus-specs, slash_validator). */
const EPOCHS_TO_EXIT = 5;
const EPOCHS_TO_WITHDRAWAL = 8192;

/** An index or a public key. */
export type Identifier = number | string;

/** A validator as of an epoch. Undefined: the service does not know it. */
export function validatorAt(world: ValidatorsWorld, identifier: Identifier, epoch: number): Validator | undefined {
  const given = world.validators.find(({ index, publicKey }) => identifier === index || identifier === publicKey);
  const validator = withCredentials(world, given ?? drawnValidator(world, identifier, epoch), epoch);
  const slashedAt = validator && orderedSlashing(world, validator, epoch);
  if (!validator || slashedAt === undefined) return validator;
  const life = { ...validator.life, exit: slashedAt + EPOCHS_TO_EXIT, withdrawable: slashedAt + EPOCHS_TO_WITHDRAWAL };
  return { ...validator, slashedAt, life };
}

function drawnValidator({ seed }: ChainWorld, identifier: Identifier, epoch: number): Validator | undefined {
  // A drawn key ends with the index.
  const index = typeof identifier === 'number' ? identifier : Number.parseInt(identifier.slice(-8), 16);
  const publicKey = publicKeyOf({ seed }, index);
  if (index >= EXISTING || (identifier !== index && identifier !== publicKey)) return undefined;
  const eligibility = Math.max(0, Math.ceil((index - AT_GENESIS) / JOINED_PER_EPOCH));
  const activation = eligibility === 0 ? 0 : eligibility + WAITED_EPOCHS;
  const earned = BigInt(between(0, 20_000_000, seed, index, epoch)) * GWEI;
  return {
    index,
    publicKey,
    life: { eligibility, activation, exit: null, withdrawable: null },
    slashedAt: null,
    credentials: index % 10 === 9 ? blsCredentials(seed, index) : addressCredentials(seed, index, '0x01'),
    balances: { current: 32n * ETHER + earned, effective: 32n * ETHER },
  };
}

/** The key of a drawn validator. */
export function publicKeyOf({ seed }: Pick<ChainWorld, 'seed'>, index: number): string {
  return `0x${hash('sha384', `${seed} ${index}`).slice(8)}${index.toString(16).padStart(8, '0')}`;
}

/** Credentials without a withdrawal address. */
function blsCredentials(seed: number, index: number): Validator['credentials'] {
  const credential = `0x00${hash('sha256', `${seed} bls ${index}`).slice(2)}`;
  return { type: 'bls', prefix: '0x00', credential, address: null };
}

function addressCredentials(seed: number, index: number, prefix: '0x01' | '0x02'): Validator['credentials'] {
  const address = drawnAddress(seed, 'withdrawal', index);
  return { type: 'execution_address', prefix, credential: `${prefix}${address.slice(2).padStart(62, '0')}`, address };
}

/** With the credentials from the last order before this epoch. */
function withCredentials({ chain, seed, changes }: ValidatorsWorld, validator: Validator | undefined, epoch: number) {
  const { index = null } = validator ?? {};
  const start = epochTime(chain, epoch) * 1000;
  const change = changes.findLast((one) => one.validator === index && one.at < start);
  if (!validator || index === null || !change) return validator;
  return { ...validator, credentials: addressCredentials(seed, index, change.to) };
}

export function drawnAddress(seed: number, what: string, of: number): string {
  return `0x${hash('sha256', `${seed} ${what} ${of}`).slice(0, 40)}`;
}

/** The earlier epoch in which an order slashed the validator. Drawn slashings do not count. */
function orderedSlashing({ slashed }: ChainWorld, { index }: Validator, epoch: number): number | undefined {
  const orders = [...slashed.attester, ...slashed.proposer];
  const [slot] = orders.find(([at, named]) => epochOf(at) < epoch && index !== null && named.includes(index)) ?? [];
  return slot === undefined ? undefined : epochOf(slot);
}

/** As the service names it (api-facts 10.1). */
export function statusOf({ life, slashedAt, balances }: Validator, epoch: number): string {
  if (!hasCome(life.activation, epoch)) return life.eligibility === null ? 'pending_initialized' : 'pending_queued';
  const isSlashed = hasCome(slashedAt, epoch);
  if (!hasCome(life.exit, epoch)) {
    if (isSlashed) return 'active_slashed';
    return life.exit === null ? 'active_ongoing' : 'active_exiting';
  }
  if (!hasCome(life.withdrawable, epoch)) return isSlashed ? 'exited_slashed' : 'exited_unslashed';
  return balances.current > 0n ? 'withdrawal_possible' : 'withdrawal_done';
}

/** Whether the epoch of an event is known and not after this one. */
export function hasCome(at: number | null, epoch: number): boolean {
  return at !== null && at <= epoch;
}

export function isActive({ life }: Validator, epoch: number): boolean {
  return hasCome(life.activation, epoch) && !hasCome(life.exit, epoch);
}

/** Whether a silence covers the whole epoch. */
export function isSilent({ chain, silences }: ValidatorsWorld, { index }: Validator, epoch: number): boolean {
  const start = epochTime(chain, epoch) * 1000;
  const end = epochTime(chain, epoch + 1) * 1000;
  return silences.some(({ validator, from, until }) => validator === index && from <= start && end <= until);
}
