import { type Chain, EPOCHS_PER_SYNC_COMMITTEE_PERIOD, epochTime, periodOf } from '../facts/chain.ts';
import { between } from '../toolkit/lib/random.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { pageOf, selected, type ValidatorsBody } from './body.ts';
import { type ChainWorld, epochOf, epochsRange, headEpoch, SEATS, wei } from './chain-world.ts';
import { limitsOf } from './rate-limit.ts';
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
export function existing({ plan }: Sandbox, identifiers: readonly number[]): number[] {
  const isTrial = limitsOf(plan).perMonth !== undefined;
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

/** POST /api/v2/ethereum/sync-committee (api-facts 4), for the period of the head. */
export function syncCommittee(_: Sandbox, { chain }: { readonly chain: Chain }, now: UnixMs): string {
  const period = periodOf(headEpoch(chain, now));
  const firstEpoch = period * EPOCHS_PER_SYNC_COMMITTEE_PERIOD;
  return JSON.stringify({
    data: { period, finality: 'not_finalized' },
    range: epochsRange(chain, firstEpoch, firstEpoch + EPOCHS_PER_SYNC_COMMITTEE_PERIOD - 1),
  });
}

/** GET /api/v1/sync_committee/{period} (api-facts 4.1). Of a later committee than the next the answer is an empty list. */
export function committee({ chains }: Sandbox, chain: Chain, selector: string, now: UnixMs): string {
  const latest = periodOf(headEpoch(chain, now));
  const period = selected(selector, { latest, next: latest + 1 }, 'invalid period provided');
  return JSON.stringify({ status: 'OK', data: period > latest + 1 ? [] : membersOf(chains[chain], period) });
}

/** Two seats are held by one of the validators that also propose, so that watching them shows a member. */
const OWN_SEATS: readonly number[] = [100, 300];

function membersOf({ seed, proposers }: ChainWorld, period: number): object {
  const start_epoch = period * EPOCHS_PER_SYNC_COMMITTEE_PERIOD;
  const { validators: own } = proposers;
  const member = own[between(0, own.length - 1, seed, period, 17)];
  const validators = Array.from({ length: SEATS }, (_, seat) =>
    member !== undefined && OWN_SEATS.includes(seat) ? member : between(0, 1_000_000, seed, period, seat, 18),
  );
  return { period, start_epoch, end_epoch: start_epoch + EPOCHS_PER_SYNC_COMMITTEE_PERIOD - 1, validators };
}
