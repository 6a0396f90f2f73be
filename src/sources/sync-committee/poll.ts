import type { Api } from '../../api/client.ts';
import { requestTo } from '../../api/endpoints.ts';
import { RequestFailed } from '../../api/errors.ts';
import { type Chain, NONSENSE_AHEAD_SECONDS, periodTime } from '../../facts/chain.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import type { Poll } from '../source.ts';
import type { SyncCommittee } from './schema.ts';

/** Reads the current period. An older one than is known comes from a cache or from a node that lags. */
export async function pollSyncCommittee(
  chain: Chain,
  api: Api,
  { period: known }: SyncCommittee,
  now: UnixMs,
  signal: AbortSignal,
): Promise<Poll<SyncCommittee>> {
  const { data, range } = await api.request(requestTo('sync_committee', { chain }), signal);
  const { period: number } = data;
  if (periodTime(chain, number) > now / 1000 + NONSENSE_AHEAD_SECONDS) {
    throw new RequestFailed('sync_committee', 'invalid_body', 'a period far in the future');
  }
  const period = known && number < known.number ? known : { number, epoch: range.epoch, timestamp: range.timestamp };
  return { value: { period } };
}
