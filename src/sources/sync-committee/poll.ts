import type { Api } from '../../api/client.ts';
import type { Chain } from '../../lib/chain.ts';
import type { Poll } from '../source.ts';
import { type SyncCommittee, SyncCommitteeAnswer } from './schema.ts';

/** Reads the current period. */
export async function pollSyncCommittee(
  chain: Chain,
  api: Api,
  previous: SyncCommittee,
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
  // A period that is behind what is known comes from a cache or a node that lags.
  if (previous.period && data.period < previous.period.number) return { value: previous };
  return { value: { period: { number: data.period, epoch: range.epoch, timestamp: range.timestamp } } };
}
