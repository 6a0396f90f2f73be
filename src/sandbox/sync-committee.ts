import { type Chain, EPOCHS_PER_SYNC_COMMITTEE_PERIOD, periodOf } from '../facts/chain.ts';
import { between } from '../toolkit/lib/random.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { type SyncCommitteeBody, whole } from './body.ts';
import { type ChainWorld, epochOf, epochsRange, headSlot } from './chain-world.ts';
import type { Sandbox } from './world.ts';

/** POST /api/v2/ethereum/sync-committee (api-facts 4), for the period of the head. */
export function syncCommittee(_: Sandbox, { chain }: SyncCommitteeBody, now: UnixMs): string {
  const { period } = headOf(chain, now);
  const firstEpoch = period * EPOCHS_PER_SYNC_COMMITTEE_PERIOD;
  return JSON.stringify({
    data: { period, finality: 'not_finalized' },
    range: epochsRange(chain, firstEpoch, firstEpoch + EPOCHS_PER_SYNC_COMMITTEE_PERIOD - 1),
  });
}

/** The period of the head, and the epoch of the head in it. */
function headOf(chain: Chain, now: UnixMs): { readonly period: number; readonly epoch: number } {
  const epoch = epochOf(headSlot(chain, now));
  return {
    period: periodOf(epoch),
    epoch: epoch % EPOCHS_PER_SYNC_COMMITTEE_PERIOD,
  };
}

const SEATS = 512;

/** GET /api/v1/sync_committee/{period} (api-facts 4.1). Of a committee that is not known yet the answer is an empty list. */
export function committee({ chains }: Sandbox, chain: Chain, selector: string, now: UnixMs): string {
  const head = headOf(chain, now);
  const period = numberOf(selector, head.period);
  // The service learns of the next committee when the first epoch of the period is over.
  const newest = head.epoch === 0 ? head.period : head.period + 1;
  return JSON.stringify({ status: 'OK', data: period > newest ? [] : membersOf(chains[chain], period) });
}

function numberOf(selector: string, latest: number): number {
  if (selector === 'latest') return latest;
  if (selector === 'next') return latest + 1;
  return whole(selector, 'invalid period provided');
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
