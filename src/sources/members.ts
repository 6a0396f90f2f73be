import * as z from 'zod';
import type { Api } from '../api/client.ts';
import type { Chain } from '../lib/chain.ts';
import { MS_PER_HOUR } from '../lib/duration.ts';

const Index = z.number().int().nonnegative();

/** Seats in the order of the committee (api-facts 4.1). If it is not known, the service returns an empty list. */
const CommitteeAnswer = z.object({ period: Index, validators: z.array(Index).max(512).nullable() });
export const MembersAnswer = z.object({
  data: z.union([CommitteeAnswer, z.array(CommitteeAnswer).transform(([first]) => first)]),
});

/** How often unknown members are requested. */
export const MEMBERS_RETRY_MS = MS_PER_HOUR;

/** The seats of a period; undefined: the service does not know the members yet. @throws RequestFailed */
export async function readSeats(
  api: Api,
  chain: Chain,
  period: number,
  signal: AbortSignal,
  selector: number | 'next' = period,
): Promise<number[] | undefined> {
  const path = `/api/v1/sync_committee/${selector}`;
  const request = { endpoint: 'sync_committee_members', priority: 'sync_committee', chain, path } as const;
  const { data } = await api.request(request, MembersAnswer, signal);
  return data?.period === period && data.validators?.length ? data.validators : undefined;
}
