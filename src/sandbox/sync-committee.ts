import { type Chain, EPOCHS_PER_SYNC_COMMITTEE_PERIOD, periodOf } from '../facts/chain.ts';
import { between } from '../toolkit/lib/random.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { selected } from './body.ts';
import { type ChainWorld, epochsRange, headEpoch, SEATS } from './chain-world.ts';
import type { Sandbox } from './world.ts';

/** POST /api/v2/ethereum/sync-committee (api-facts 4), for the period of the head. */
export function syncCommittee(_: Sandbox, { chain }: { readonly chain: Chain }, now: UnixMs): string {
  return JSON.stringify(periodAnswer(chain, periodOf(headEpoch(chain, now))));
}

export function periodAnswer(chain: Chain, period: number) {
  const { start_epoch, end_epoch } = epochsOf(period);
  return { data: { period, finality: 'not_finalized' }, range: epochsRange(chain, start_epoch, end_epoch) };
}

/** The next committee is not known in the first epochs of a period (api-facts 4.1). */
const NEXT_KNOWN_AFTER_EPOCHS = 4;

/** GET /api/v1/sync_committee/{period} (api-facts 4.1). The service sends `[]` for a committee that is not known yet. */
export function committee({ chains }: Sandbox, chain: Chain, selector: string, now: UnixMs): string {
  const epoch = headEpoch(chain, now);
  const latest = periodOf(epoch);
  const period = selected(selector, { latest, next: latest + 1 }, 'invalid period provided');
  const isNextKnown = epoch % EPOCHS_PER_SYNC_COMMITTEE_PERIOD >= NEXT_KNOWN_AFTER_EPOCHS;
  const isKnown = period <= latest || (period === latest + 1 && isNextKnown);
  return JSON.stringify(membersAnswer(period, isKnown ? membersOf(chains[chain], period) : undefined));
}

/** The members by seat, in committee order. undefined: not known. */
export function membersAnswer(period: number, validators: readonly unknown[] | null | undefined) {
  return { status: 'OK', data: validators === undefined ? [] : { period, ...epochsOf(period), validators } };
}

function epochsOf(period: number) {
  const start_epoch = period * EPOCHS_PER_SYNC_COMMITTEE_PERIOD;
  return { start_epoch, end_epoch: start_epoch + EPOCHS_PER_SYNC_COMMITTEE_PERIOD - 1 };
}

/** The seats of a watched validator, so that the demo shows a member. */
const OWN_SEATS: readonly number[] = [100, 300];

export function membersOf({ seed, proposers }: ChainWorld, period: number): number[] {
  const { validators: own } = proposers;
  const member = own[between(0, own.length - 1, seed, period, 17)];
  return Array.from({ length: SEATS }, (_, seat) =>
    member !== undefined && OWN_SEATS.includes(seat) ? member : between(0, 1_000_000, seed, period, seat, 18),
  );
}
