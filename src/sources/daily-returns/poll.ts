import type { Api } from '../../api/client.ts';
import { isFailure } from '../../api/errors.ts';
import { CHAINS, type Chain, NONSENSE_AHEAD_SECONDS } from '../../lib/chain.ts';
import { CLOCK_AHEAD_MS } from '../../lib/clock.ts';
import { SECONDS_PER_DAY } from '../../lib/duration.ts';
import type { UnixMs } from '../../lib/time.ts';
import type { Poll, Timing } from '../source.ts';
import { type DailyReturns, DailyReturnsPage, Datapoint } from './schema.ts';

/** The path of the specification, and the one of the public documentation (api-facts 3.1). */
export const DAILY_RETURNS_PATHS = ['/api/v2/ethereum/benchmark-store', '/api/v2/ethereum/eth-store'] as const;

/** The maximum of the service (api-facts 7.2). */
export const DAYS_PER_PAGE = 10;

/** Selects days, as the service expects it (api-facts 3.1). */
export interface DaysQuery {
  readonly range: object;
  readonly cursor?: string;
}

export type ReadDays = (api: Api, query: DaysQuery, signal: AbortSignal) => Promise<DailyReturnsPage>;

/** Reads days of a chain. It tries the other path after a 404, and remembers the one that works. */
export function daysReader(chain: Chain): ReadDays {
  let [path, other]: readonly string[] = DAILY_RETURNS_PATHS;

  return async (api, query, signal) => {
    const body = { chain, ...query, page_size: DAYS_PER_PAGE };
    const ask = (at = ''): Promise<DailyReturnsPage> =>
      api.request({ endpoint: 'daily_returns', priority: 'daily_returns', path: at, body }, DailyReturnsPage, signal);
    try {
      return await ask(path);
    } catch (error) {
      if (!isFailure(error, 'not_found')) throw error;
      const page = await ask(other);
      [path, other] = [other, path];
      return page;
    }
  };
}

/** Reads the newest day. A smaller day never replaces a larger one. */
export async function pollDailyReturns(
  chain: Chain,
  readDays: ReadDays,
  api: Api,
  { newest: known }: DailyReturns,
  { now }: Timing,
  signal: AbortSignal,
): Promise<Poll<DailyReturns>> {
  const { data } = await readDays(api, { range: { evaluation_window: '24h' } }, signal);
  const days = api.records('daily_returns', Datapoint, data, (day) => isPlausible(chain, day, now));
  const newest = days.reduce((best, day) => (best && best.day > day.day ? best : day), known);
  return { value: newest ? { newest } : {} };
}

/**
 * A day must have begun, by clocks that may differ. Days are counted from genesis: a number that is far too large would never
 * be replaced by a real one, and after an end far in the future no day would be requested.
 */
function isPlausible(chain: Chain, { day, day_start, day_end }: Datapoint, now: UnixMs): boolean {
  const begun = (now + CLOCK_AHEAD_MS) / 1000;
  const newest = (begun + NONSENSE_AHEAD_SECONDS - CHAINS[chain].genesis) / SECONDS_PER_DAY;
  return day_start <= begun && day_end <= begun + SECONDS_PER_DAY && day <= newest;
}
