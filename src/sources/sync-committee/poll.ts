import type { Api } from '../../api/client.ts';
import { RequestFailed } from '../../api/errors.ts';
import { type Chain, NONSENSE_AHEAD_SECONDS, periodTime } from '../../lib/chain.ts';
import type { UnixMs } from '../../lib/time.ts';
import type { Poll } from '../source.ts';
import { type SyncCommittee, SyncCommitteeAnswer } from './schema.ts';

/** Reads the current period. An older one than is known comes from a cache or from a node that lags. */
export async function pollSyncCommittee(
  chain: Chain,
  api: Api,
  { period: known }: SyncCommittee,
  now: UnixMs,
  signal: AbortSignal,
): Promise<Poll<SyncCommittee>> {
  const path = '/api/v2/ethereum/sync-committee';
  const body = { sync_committee_period: { view: 'latest' }, chain };
  const request = { endpoint: 'sync_committee', priority: 'sync_committee', path, body } as const;
  const { data, range } = await api.request(request, SyncCommitteeAnswer, signal);
  const { period: number } = data;
  if (periodTime(chain, number) > now / 1000 + NONSENSE_AHEAD_SECONDS) {
    throw new RequestFailed('sync_committee', 'invalid_body', 'a period far in the future');
  }
  const period = known && number < known.number ? known : { number, epoch: range.epoch, timestamp: range.timestamp };
  return { value: { period } };
}
