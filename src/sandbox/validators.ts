import { type Chain, EPOCHS_PER_DAY, epochTime, SECONDS_PER_EPOCH, SLOTS_PER_EPOCH } from '../facts/chain.ts';
import { between } from '../toolkit/lib/random.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import type { PerformanceBody, ValidatorsBody } from './body.ts';
import { type ChainWorld, epochOf, epochsRange, headSlot } from './chain-world.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { limitsOf } from './rate-limit.ts';
import { Refusal } from './refusal.ts';
import type { Sandbox } from './world.ts';

/** Each chain has about this many validators. */
const EXISTING = 2_000_000;
const MAX_IDENTIFIERS = 100;
const MAX_IDENTIFIERS_OF_TRIAL = 20;
/** The service computes the status once an epoch, about a minute after its start (api-facts 10.1). */
const COMPUTED_AFTER_MS = 60_000;
/** Offline: without an attestation in this many epochs (api-facts 10.1). */
const SILENT_EPOCHS = 2;
const GWEI = '000000000';

/** POST /api/v2/ethereum/validators (api-facts 10.1). */
export function validators(sandbox: Sandbox, asked: ValidatorsBody, now: UnixMs): string {
  const { chain, validator, page_size, cursor } = asked;
  const all = existing(sandbox, validator.validator_identifiers);
  const query = [chain, validator, page_size];
  const { from } = decodeCursor<{ from: number }>(query, cursor) ?? { from: 0 };
  const epoch = epochAt(chain, now);
  const end = from + page_size;
  return JSON.stringify({
    data: all.slice(from, end).map((index) => rowOf(sandbox.chains[chain], index, epoch)),
    range: epochsRange(chain, epoch, epoch),
    paging: { next_cursor: end < all.length ? encodeCursor(query, { from: end }) : '' },
  });
}

/** POST /api/v2/ethereum/validators/performance-aggregate (api-facts 10.2). Every evaluation window is that of a day. */
export function performance(sandbox: Sandbox, { chain, validator }: PerformanceBody, now: UnixMs): string {
  const all = existing(sandbox, validator.validator_identifiers);
  const last = epochAt(chain, now) - 2;
  const assigned = all.length * EPOCHS_PER_DAY;
  const missed = all.reduce((sum, index) => sum + missedEpochs(sandbox.chains[chain], index, last), 0);
  const included = assigned - missed;
  const score = included / assigned;
  return JSON.stringify({
    data: {
      beaconscore: { total: score, attestation: score, proposal: null, sync_committee: null },
      duties: {
        attestation: { included, assigned, missed },
        sync_committee: { successful: 0, assigned: 0, missed: 0 },
        proposal: { successful: 0, assigned: 0, missed: 0 },
      },
    },
  });
}

function existing({ plan }: Sandbox, identifiers: readonly number[]): number[] {
  const isTrial = limitsOf(plan).perMonth !== undefined;
  if (identifiers.length > (isTrial ? MAX_IDENTIFIERS_OF_TRIAL : MAX_IDENTIFIERS)) throw new Refusal(403);
  const known = identifiers.filter((one) => one < EXISTING);
  if (known.length === 0) throw new Refusal(404);
  return [...new Set(known)].sort((a, b) => a - b);
}

/** The epoch of the newest answer. */
function epochAt(chain: Chain, now: UnixMs): number {
  return epochOf(headSlot(chain, now - COMPUTED_AFTER_MS));
}

function rowOf(world: ChainWorld, index: number, epoch: number): object {
  const slashed = slashedIn(world, index, epoch);
  const current = 32_000_000_000 + between(0, 20_000_000, world.seed, index, epoch);
  return {
    validator: { index },
    slashed: slashed !== undefined,
    status: slashed !== undefined ? 'active_slashed' : 'active_ongoing',
    online: !isOffline(world, index, epoch),
    // consensus-specs phase0: the exit is the first that the queue allows.
    life_cycle_epochs:
      slashed === undefined ? { exit: null, withdrawable: null } : { exit: slashed + 5, withdrawable: slashed + 8192 },
    balances: { current: `${current}${GWEI}`, effective: `32000000000${GWEI}` },
  };
}

/** The epoch of the first slashing that was ordered: those of the seed concern validators of others. */
function slashedIn(
  { slashedAttesters, slashedProposers }: ChainWorld,
  index: number,
  epoch: number,
): number | undefined {
  const end = (epoch + 1) * SLOTS_PER_EPOCH;
  const slots = [...slashedAttesters, ...slashedProposers].filter(([slot, all]) => slot < end && all.includes(index));
  return slots.length === 0 ? undefined : epochOf(Math.min(...slots.map(([slot]) => slot)));
}

/** Whether the validator did not attest in the last epochs before this one. */
function isOffline(world: ChainWorld, index: number, epoch: number): boolean {
  return Array.from({ length: SILENT_EPOCHS }, (_, i) => epoch - 1 - i).every((one) => isSilentIn(world, index, one));
}

function missedEpochs(world: ChainWorld, index: number, last: number): number {
  let missed = 0;
  for (let epoch = last - EPOCHS_PER_DAY + 1; epoch <= last; epoch += 1)
    if (isSilentIn(world, index, epoch)) missed += 1;
  return missed;
}

function isSilentIn({ chain, offline }: ChainWorld, index: number, epoch: number): boolean {
  const span = offline.get(index);
  const start = epochTime(chain, epoch) * 1000;
  return span !== undefined && span.from <= start && start + SECONDS_PER_EPOCH * 1000 <= span.until;
}
