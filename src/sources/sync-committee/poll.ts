import type { Api } from '../../api/client.ts';
import { RequestFailed } from '../../api/errors.ts';
import {
  type Chain,
  EPOCHS_PER_SYNC_COMMITTEE_PERIOD,
  NONSENSE_AHEAD_SECONDS,
  SLOTS_PER_EPOCH,
  slotTime,
} from '../../lib/chain.ts';
import type { Poll, Timing } from '../source.ts';
import { type SyncCommittee, SyncCommitteeAnswer } from './schema.ts';

const SLOTS_PER_PERIOD = EPOCHS_PER_SYNC_COMMITTEE_PERIOD * SLOTS_PER_EPOCH;

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
  if (slotTime(chain, data.period * SLOTS_PER_PERIOD) > now / 1000 + NONSENSE_AHEAD_SECONDS) {
    throw new RequestFailed('sync_committee', 'invalid_body', 'a period far in the future', 200);
  }
  // An older period than the known one comes from a cache or from a node that lags.
  if (previous.period && data.period < previous.period.number) return { value: previous };
  return { value: { period: { number: data.period, epoch: range.epoch, timestamp: range.timestamp } } };
}
