import { epochTime } from '../facts/chain.ts';
import { between } from '../toolkit/lib/random.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { limitsOf } from './account.ts';
import { pageOf, type ValidatorsBody } from './body.ts';
import { type ChainWorld, epochOf, epochsRange, headEpoch, wei } from './chain-world.ts';
import { Refusal } from './refusal.ts';
import type { Sandbox } from './world.ts';

/** Each chain has about this many validators. */
export const EXISTING = 2_000_000;
const MAX_IDENTIFIERS = 100;
const MAX_IDENTIFIERS_OF_TRIAL = 20;
/** The service computes the status once an epoch, about a minute after its start (api-facts 10.1). */
const COMPUTED_AFTER_MS = 60_000;
/** Offline: without an attestation in this many epochs (api-facts 10.1). */
const SILENT_EPOCHS = 2;

/** POST /api/v2/ethereum/validators (api-facts 10.1). */
export function validators(sandbox: Sandbox, asked: ValidatorsBody, now: UnixMs): string {
  const { chain, validator } = asked;
  const { page, paging } = pageOf(asked, now, () => existing(sandbox, validator.validator_identifiers));
  const epoch = headEpoch(chain, now - COMPUTED_AFTER_MS);
  const data = page.map((index) => rowOf(sandbox.chains[chain], index, epoch));
  return JSON.stringify({ data, range: epochsRange(chain, epoch, epoch), paging });
}

/** Those of the identifiers that exist. @throws Refusal if there are too many, or none exists */
export function existing({ account }: Sandbox, identifiers: readonly number[]): number[] {
  const isTrial = limitsOf(account.plan).perMonth !== undefined;
  if (identifiers.length > (isTrial ? MAX_IDENTIFIERS_OF_TRIAL : MAX_IDENTIFIERS)) throw new Refusal(403);
  const known = identifiers.filter((one) => one < EXISTING);
  if (known.length === 0) throw new Refusal(404);
  return [...new Set(known)].sort((a, b) => a - b);
}

function rowOf(world: ChainWorld, index: number, epoch: number): object {
  const slashed = isSlashed(world, index, epoch);
  const current = 32_000_000_000 + between(0, 20_000_000, world.seed, index, epoch);
  return {
    validator: { index },
    slashed,
    status: slashed ? 'active_slashed' : 'active_ongoing',
    online: silentEpochs(world, index, epoch - 1, SILENT_EPOCHS) < SILENT_EPOCHS,
    life_cycle_epochs: { exit: null, withdrawable: null },
    balances: { current: wei(current), effective: wei(32_000_000_000) },
  };
}

/** Whether an order slashed it: the slashings of the seed concern validators of others. */
function isSlashed({ slashed }: ChainWorld, index: number, epoch: number): boolean {
  const all = [...slashed.attester, ...slashed.proposer];
  return all.some(([slot, validators]) => epochOf(slot) <= epoch && validators.includes(index));
}

/** In how many of the `count` epochs up to `last` the validator did not attest. */
export function silentEpochs({ chain, offline }: ChainWorld, index: number, last: number, count: number): number {
  const span = offline.get(index);
  if (!span) return 0;
  const startMs = (epoch: number): UnixMs => epochTime(chain, epoch) * 1000;
  const epochs = Array.from({ length: count }, (_, i) => last - i);
  return epochs.filter((epoch) => span.from <= startMs(epoch) && startMs(epoch + 1) <= span.until).length;
}
