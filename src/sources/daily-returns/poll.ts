import { type DailyReturnsPage, Datapoint } from '../../api/answers/daily-returns.ts';
import type { Api } from '../../api/client.ts';
import { DAILY_RETURNS_PATHS, type Query, requestTo } from '../../api/endpoints.ts';
import { isFailure } from '../../api/errors.ts';
import { CHAINS, type Chain, NONSENSE_AHEAD_SECONDS } from '../../facts/chain.ts';
import { CLOCK_AHEAD_MS } from '../../toolkit/lib/clock.ts';
import { SECONDS_PER_DAY } from '../../toolkit/lib/duration.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import type { Poll, Timing } from '../source.ts';
import type { DailyReturns } from './schema.ts';

/** Which days of a chain to read. */
type Path = Query<'daily_returns'>['path'];
type DaysQuery = Omit<Query<'daily_returns'>, 'chain' | 'path'>;

export type ReadDays = (api: Api, query: DaysQuery, signal: AbortSignal) => Promise<DailyReturnsPage>;

/** Reads days of a chain. After a 404, whoever wrote it, it tries the other path, and remembers the one that works. */
export function daysReader(chain: Chain): ReadDays {
  let [path, other]: [Path, Path] = [...DAILY_RETURNS_PATHS];

  return async (api, query, signal) => {
    const ask = (at: typeof path): Promise<DailyReturnsPage> =>
      api.request(requestTo('daily_returns', { chain, path: at, ...query }), signal);
    try {
      return await ask(path);
    } catch (error) {
      if (!isFailure(error, 'not_found', 'unexpected_status')) throw error;
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
  const { data } = await readDays(api, { range: { window: '24h' } }, signal);
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
