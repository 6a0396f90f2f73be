import type { Api } from '../api/client.ts';
import { requestTo } from '../api/endpoints.ts';
import type { Chain } from '../facts/chain.ts';

/** The seats of a period; undefined: the service does not know the members yet. @throws RequestFailed */
export async function readSeats(
  api: Api,
  chain: Chain,
  period: number,
  signal: AbortSignal,
  selector: number | 'next' = period,
): Promise<number[] | undefined> {
  const { data } = await api.request(requestTo('sync_committee_members', { chain, period: selector }), signal);
  return data?.period === period && data.validators?.length ? data.validators : undefined;
}
