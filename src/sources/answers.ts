import type { Api } from '../api/client.ts';
import { type Endpoint, requestTo } from '../api/endpoints.ts';
import { isFailure, RequestFailed } from '../api/errors.ts';
import { type Chain, epochAt } from '../facts/chain.ts';
import { CLOCK_AHEAD_MS } from '../toolkit/lib/clock.ts';
import { MS_PER_HOUR } from '../toolkit/lib/duration.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';

/** How long to try what fails by itself, counting only time in which the program runs and may ask. */
export const GIVE_UP_AFTER_MS = MS_PER_HOUR;

/** The result, or the failure. @throws when the run is aborted */
export async function attempt<T>(
  { signal }: { readonly signal: AbortSignal },
  request: () => Promise<T>,
): Promise<T | Error> {
  try {
    return await request();
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    return error;
  }
}

/** The seats of a period. Undefined if the service does not have the members yet. @throws RequestFailed */
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

/** @throws RequestFailed if the epoch of a response is in the future */
export function expectPastEpoch(endpoint: Endpoint, chain: Chain, epoch: number, now: UnixMs): void {
  if (epoch <= epochAt(chain, now + CLOCK_AHEAD_MS)) return;
  throw new RequestFailed(endpoint, 'invalid_body', `epoch ${epoch} is in the future`);
}

/** Whether the failure may concern only this request. Otherwise the service is down, or refuses all requests. */
export function isRequestSpecific(failure: Error): boolean {
  if (!(failure instanceof RequestFailed)) return false;
  return !isFailure(failure, 'network', 'rate_limited', 'revoked', 'unauthorized', 'forbidden');
}
