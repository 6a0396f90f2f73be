import type { Api } from '../../api/client.ts';
import { RequestFailed } from '../../api/errors.ts';
import { type Chain, SECONDS_PER_DAY, SLOTS_PER_EPOCH, slotTime } from '../../lib/chain.ts';
import type { Poll, Timing } from '../source.ts';
import { type SyncCommittee, SyncCommitteeAnswer } from './schema.ts';

/** EPOCHS_PER_SYNC_COMMITTEE_PERIOD of the consensus specs is 256 on both chains. */
const SLOTS_PER_PERIOD = 256 * SLOTS_PER_EPOCH;
/** As with slots, our clock may be wrong by hours. */
const CLOCK_AHEAD_SECONDS = SECONDS_PER_DAY;

/** Reads the current period. */
export async function pollSyncCommittee(
  chain: Chain,
  api: Api,
  previous: SyncCommittee,
  { now }: Timing,
  signal: AbortSignal,
): Promise<Poll<SyncCommittee>> {
  const { data, range } = await api.request(
    {
      endpoint: 'sync_committee',
      priority: 'sync_committee',
      path: '/api/v2/ethereum/sync-committee',
      body: { sync_committee_period: { view: 'latest' }, chain },
    },
    SyncCommitteeAnswer,
    signal,
  );
  // It only moves on: a period from far ahead would stay for good.
  if (slotTime(chain, data.period * SLOTS_PER_PERIOD) > now / 1000 + CLOCK_AHEAD_SECONDS) {
    throw new RequestFailed('sync_committee', 'invalid_body', 'a period that has not begun', 200);
  }
  // A period that is behind what is known comes from a cache or a node that lags.
  if (previous.period && data.period < previous.period.number) return { value: previous };
  return { value: { period: { number: data.period, epoch: range.epoch, timestamp: range.timestamp } } };
}
