import type { UnixMs } from '../toolkit/lib/time.ts';
import { limitsOf } from './account.ts';
import { pageOf, type ValidatorsBody } from './body.ts';
import { epochsRange, headEpoch } from './chain-world.ts';
import { Refusal } from './refusal.ts';
import { hasCome, type Identifier, isActive, isSilent, statusOf, validatorAt } from './validator.ts';
import type { Validator, ValidatorsWorld } from './validators-world.ts';
import type { Sandbox } from './world.ts';

const MAX_IDENTIFIERS = 100;
const MAX_IDENTIFIERS_OF_TRIAL = 20;
/** The service computes the status once an epoch, about a minute after its start (api-facts 10.1). */
const COMPUTED_AFTER_MS = 60_000;
/** Offline: without an attestation in this many epochs (api-facts 10.1). */
const SILENT_EPOCHS = 2;

/** POST /api/v2/ethereum/validators (api-facts 10.1). */
export function validators(sandbox: Sandbox, asked: ValidatorsBody, now: UnixMs): string {
  const { chain, validator } = asked;
  const world = sandbox.chains[chain];
  const epoch = headEpoch(chain, now - COMPUTED_AFTER_MS);
  const { page, paging } = pageOf(asked, now, () => known(sandbox, world, validator.validator_identifiers, epoch));
  const data = page.map((one) => statusRow(one, epoch, isOnline(world, one, epoch)));
  return JSON.stringify({ data, paging, range: epochsRange(chain, epoch, epoch) });
}

/** The validators that the service knows, by index. @throws Refusal if too many are asked for, or none is known */
export function known(
  { account }: Sandbox,
  world: ValidatorsWorld,
  identifiers: readonly Identifier[],
  epoch: number,
): Validator[] {
  const isTrial = limitsOf(account.plan).perMonth !== undefined;
  if (identifiers.length > (isTrial ? MAX_IDENTIFIERS_OF_TRIAL : MAX_IDENTIFIERS)) throw new Refusal(403);
  const found = identifiers.flatMap((one) => validatorAt(world, one, epoch) ?? []);
  if (found.length === 0) throw new Refusal(404);
  // A validator that is requested by index and by key has one row.
  const byKey = new Map(found.map((one) => [one.publicKey, one]));
  const position = ({ index }: Validator): number => index ?? Number.MAX_SAFE_INTEGER;
  return [...byKey.values()].sort((a, b) => position(a) - position(b));
}

/** Null: it has no duties. */
function isOnline(world: ValidatorsWorld, validator: Validator, epoch: number): boolean | null {
  if (!isActive(validator, epoch)) return null;
  const epochs = Array.from({ length: SILENT_EPOCHS }, (_, i) => epoch - 1 - i);
  return !epochs.every((one) => isSilent(world, validator, one));
}

export function statusRow(validator: Validator, epoch: number, online: boolean | null) {
  const { index, publicKey, life, slashedAt, credentials, balances } = validator;
  const { type, prefix, credential, address } = credentials;
  return {
    validator: { index, public_key: publicKey },
    slashed: hasCome(slashedAt, epoch),
    status: statusOf(validator, epoch),
    online,
    withdrawal_credentials: { type, prefix, credential, address },
    life_cycle_epochs: {
      activation_eligibility: life.eligibility,
      activation: life.activation,
      exit: life.exit,
      withdrawable: life.withdrawable,
    },
    balances: { current: String(balances.current), effective: String(balances.effective) },
    finality: 'not_finalized',
  };
}
