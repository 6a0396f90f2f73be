import type { Api } from '../../api/client.ts';
import { RequestFailed } from '../../api/errors.ts';
import { CHAINS, type Chain, NONSENSE_AHEAD_SECONDS } from '../../lib/chain.ts';
import { CLOCK_AHEAD_MS } from '../../lib/clock.ts';
import { SECONDS_PER_DAY } from '../../lib/duration.ts';
import type { Milliseconds } from '../../lib/time.ts';
import type { Poll, Timing } from '../source.ts';
import { withDays } from './due.ts';
import { type DailyReturns, DailyReturnsPage, Datapoint } from './schema.ts';

export interface DailyReturnsOptions {
  readonly chain: Chain;
  readonly intervalMs: Milliseconds;
  readonly weight: number;
  /** `auto`: the path of the specification, and where that is not found the one of the public documentation. */
  readonly path: string;
}

/** The most that the service gives (api-facts 7.2). */
export const DAYS_PER_PAGE = 10;

export const AUTO_PATHS = ['/api/v2/ethereum/benchmark-store', '/api/v2/ethereum/eth-store'] as const;

/** Reads the newest day. A smaller day never replaces a larger one. */
export async function pollDailyReturns(
  options: DailyReturnsOptions,
  api: Api,
  previous: DailyReturns,
  timing: Timing,
  signal: AbortSignal,
): Promise<Poll<DailyReturns>> {
  const query = { range: { evaluation_window: '24h' } };
  const { path, page } = await readDays(options, api, query, previous.path, signal);
  // A day must have begun, by clocks that may differ.
  const begun = (timing.now + CLOCK_AHEAD_MS) / 1000;
  const newest = (begun + NONSENSE_AHEAD_SECONDS - CHAINS[options.chain].genesis) / SECONDS_PER_DAY;
  const days = await api.records(
    'daily_returns',
    // Days are counted from genesis. One that is far too large would never be replaced by a real one.
    Datapoint.refine(({ day, day_start }) => day_start <= begun && day <= newest),
    page.data,
  );
  return { value: { ...withDays(previous, days, timing), path } };
}

/** Selects days, as the service expects it (api-facts 3.1). */
export interface DaysQuery {
  readonly range: object;
  readonly cursor?: string;
}

/** One page of days, and the path that answered. `remembered` is the path that answered before. */
export async function readDays(
  options: Pick<DailyReturnsOptions, 'chain' | 'path'>,
  api: Api,
  query: DaysQuery,
  remembered: string | undefined,
  signal: AbortSignal,
): Promise<{ path: string; page: DailyReturnsPage }> {
  const body = { chain: options.chain, ...query, page_size: DAYS_PER_PAGE };
  const readAt = async (path: string): Promise<{ path: string; page: DailyReturnsPage }> => {
    const request = { endpoint: 'daily_returns', priority: 'daily_returns', path, body } as const;
    return { path, page: await api.request(request, DailyReturnsPage, signal) };
  };
  if (options.path !== 'auto') return readAt(options.path);
  const [first, second] = AUTO_PATHS;
  const isSecond = remembered === second;
  try {
    return await readAt(isSecond ? second : first);
  } catch (error) {
    if (!(error instanceof RequestFailed) || error.reason !== 'not_found') throw error;
    return readAt(isSecond ? first : second);
  }
}
