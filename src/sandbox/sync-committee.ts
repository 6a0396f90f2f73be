import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD } from '../lib/chain.ts';
import type { UnixMs } from '../lib/time.ts';
import { accepted, SyncCommitteeBody } from './body.ts';
import { epochsRange } from './chain-range.ts';
import { epochOf, headSlot } from './slashings-data.ts';
import type { Sandbox } from './world.ts';

/** POST /api/v2/ethereum/sync-committee (api-facts 4), for the period of the head. */
export function syncCommittee(_: Sandbox, body: unknown, now: UnixMs): string {
  const { chain } = accepted(SyncCommitteeBody, body);
  const period = Math.floor(epochOf(headSlot(chain, now)) / EPOCHS_PER_SYNC_COMMITTEE_PERIOD);
  const firstEpoch = period * EPOCHS_PER_SYNC_COMMITTEE_PERIOD;
  return JSON.stringify({
    data: { period, finality: 'not_finalized' },
    range: epochsRange(chain, firstEpoch, firstEpoch + EPOCHS_PER_SYNC_COMMITTEE_PERIOD - 1),
  });
}
