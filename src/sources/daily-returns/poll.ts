import type { Api } from '../../api/client.ts';
import { CHAINS, type Chain, NONSENSE_AHEAD_SECONDS } from '../../lib/chain.ts';
import { CLOCK_AHEAD_MS } from '../../lib/clock.ts';
import { SECONDS_PER_DAY } from '../../lib/duration.ts';
import type { Milliseconds, UnixMs } from '../../lib/time.ts';
import { type Alternatives, type Asked, askEither } from '../alternatives.ts';
import type { Poll, Timing } from '../source.ts';
import { withDays } from './due.ts';
import { AUTO_PATHS } from './paths.ts';
import { type DailyReturns, DailyReturnsPage, Datapoint } from './schema.ts';

export interface DailyReturnsOptions {
  readonly chain: Chain;
  readonly intervalMs: Milliseconds;
  readonly weight: number;
  /** `auto`: the path of the specification or the one of the public documentation, whichever works. */
  readonly path: string;
}

/** The maximum of the service (api-facts 7.2). */
export const DAYS_PER_PAGE = 10;

/** Reads the newest day. A smaller day never replaces a larger one. */
export async function pollDailyReturns(
  options: DailyReturnsOptions,
  api: Api,
  previous: DailyReturns,
  timing: Timing,
  signal: AbortSignal,
): Promise<Poll<DailyReturns>> {
  const query = { range: { evaluation_window: '24h' } };
  const asked = await readDays(options, { api, query, known: previous.paths, now: timing.now, signal });
  const { answer, failure, oneTimeRequests } = asked;
  const value = { ...previous, paths: asked.known };
  if (!answer) return { value, ...(failure && { failure }) };
  // A day must have begun, by clocks that may differ.
  const begun = (timing.now + CLOCK_AHEAD_MS) / 1000;
  const newest = (begun + NONSENSE_AHEAD_SECONDS - CHAINS[options.chain].genesis) / SECONDS_PER_DAY;
  const days = await api.records(
    'daily_returns',
    // Days are counted from genesis. A number that is far too large would never be replaced by a real one.
    Datapoint.refine(({ day, day_start }) => day_start <= begun && day <= newest),
    answer.data,
  );
  return { value: withDays(value, days, timing), oneTimeRequests };
}

/** Selects days, as the service expects it (api-facts 3.1). */
export interface DaysQuery {
  readonly range: object;
  readonly cursor?: string;
}

interface DaysRequest {
  readonly api: Api;
  readonly query: DaysQuery;
  /** What is known of the paths. */
  readonly known: Alternatives | undefined;
  readonly now: UnixMs;
  readonly signal: AbortSignal;
}

/** One page of days. */
export function readDays(
  { chain, path: configured }: Pick<DailyReturnsOptions, 'chain' | 'path'>,
  { api, query, known, now, signal }: DaysRequest,
): Promise<Asked<DailyReturnsPage>> {
  const body = { chain, ...query, page_size: DAYS_PER_PAGE };
  return askEither({ ways: configured === 'auto' ? AUTO_PATHS : [configured], previous: known, now, signal }, (path) =>
    api.request({ endpoint: 'daily_returns', priority: 'daily_returns', path, body }, DailyReturnsPage, signal),
  );
}
