import * as z from 'zod';
import { type DailyReturnsPage, Datapoint } from '../../api/answers/daily-returns.ts';
import type { Api } from '../../api/client.ts';
import {
  type ApiRequest,
  DAILY_RETURNS_PATHS,
  PAGE_SIZE,
  type PastRange,
  type Query,
  requestTo,
  type Span,
} from '../../api/endpoints.ts';
import { isFailure } from '../../api/errors.ts';
import { isUnknownPath } from '../../api/refusal.ts';
import { CHAINS, type Chain, NONSENSE_AHEAD_SECONDS } from '../../facts/chain.ts';
import { etherOf } from '../../facts/ether.ts';
import type { Family, Labels, Sample } from '../../toolkit/exposition/family.ts';
import { CLOCK_AHEAD_MS } from '../../toolkit/lib/clock.ts';
import { MS_PER_DAY, MS_PER_MINUTE, SECONDS_PER_DAY } from '../../toolkit/lib/duration.ts';
import type { Milliseconds, UnixMs, UnixSeconds } from '../../toolkit/lib/time.ts';
import { keepNewer } from '../ages.ts';
import { family, sample } from '../families.ts';
import type { History, Past } from '../history.ts';
import type { Question } from '../probe.ts';
import type { Read } from '../read.ts';
import type { Source } from '../source.ts';

export const DailyReturns = z.object({
  newest: Datapoint.optional(),
  /** The path that works. */
  path: z.enum(DAILY_RETURNS_PATHS).optional(),
});
export type DailyReturns = z.infer<typeof DailyReturns>;

/** A day is published about 20 minutes after its end (api-facts 3.4). */
const AFTER_DAY_END_MS = 30 * MS_PER_MINUTE;

/** The network's average return per beaconchain-day. */
export function dailyReturnsSource(chain: Chain, intervalMs: Milliseconds): Source<DailyReturns> {
  return {
    name: 'daily_returns',
    chain,
    reads: [daysRead(chain, intervalMs)],
    state: DailyReturns,
    empty: {},
    share: () => 1,
    metrics: ({ newest }) => dailyReturnFamilies(chain, newest ? [newest] : []),
    more: { probe: { questions: () => [daysQuestion(chain)] }, history: () => historyOf(chain) },
  };
}

function daysQuestion(chain: Chain): Question {
  const [request, otherwise] = DAILY_RETURNS_PATHS.map((path) =>
    requestTo('daily_returns', { chain, path, range: { window: '24h' } }),
  ) as [ApiRequest, ApiRequest];
  return { request, otherwise };
}

function daysRead(chain: Chain, everyMs: Milliseconds): Read<DailyReturns> {
  return {
    name: 'days',
    endpoints: ['daily_returns'],
    everyMs,
    period: { ms: MS_PER_DAY, from: ({ newest }) => newest && newest.day_end * 1000 + MS_PER_DAY + AFTER_DAY_END_MS },
    async run({ api, signal }, { newest: known, path: knownPath }) {
      const { path, page } = await readDays(api, { chain, range: { window: '24h' } }, signal, knownPath);
      const days = api.records('daily_returns', Datapoint, page.data, (day) => isPlausible(chain, day, api.now()));
      const newest = days.reduce<Datapoint | undefined>((best, day) => keepNewer(best, day, (one) => one.day), known);
      return { value: { ...(newest && { newest }), path } };
    },
  };
}

type Path = Query<'daily_returns'>['path'];
type DaysQuery = Omit<Query<'daily_returns'>, 'path'>;

/**
 * Reads days, and returns the path that works. If no path is known, or the known one is gone, tries the other one too. If that does not
 * exist either, throws the first failure, which may pass.
 */
async function readDays(
  api: Api,
  query: DaysQuery,
  signal: AbortSignal,
  known?: Path,
): Promise<{ readonly path: Path; readonly page: DailyReturnsPage }> {
  const read = async (path: Path) => ({
    path,
    page: await api.request(requestTo('daily_returns', { path, ...query }), signal),
  });
  const [specified, documented] = DAILY_RETURNS_PATHS;
  const first = known ?? specified;
  try {
    return await read(first);
  } catch (error) {
    if (known ? !isFailure(error, 'not_found') : !isUnknownPath(error)) throw error;
    return await read(first === specified ? documented : specified).catch((second: unknown) => {
      throw isUnknownPath(second) && second.reason !== 'unexpected_status' ? error : second;
    });
  }
}

/**
 * A day must have begun, by clocks that may differ. No real day would ever replace a day whose number is far too large. After an end far in
 * the future the exporter would request no day.
 */
function isPlausible(chain: Chain, { day, day_start, day_end }: Datapoint, now: UnixMs): boolean {
  const begun = (now + CLOCK_AHEAD_MS) / 1000;
  const newest = (begun + NONSENSE_AHEAD_SECONDS - CHAINS[chain].genesis) / SECONDS_PER_DAY;
  return (day_start ?? 0) <= begun && day_end <= begun + SECONDS_PER_DAY && day <= newest;
}

export const DAYS: Past = {
  what: 'daily returns',
  endpoint: 'daily_returns',
  isDaily: true,
  flags: ['window', 'step'],
};

/** The days of a chain, back to its first. Each day has the time of its end. */
function historyOf(chain: Chain): History<Datapoint> {
  let known: Path | undefined;
  return {
    async readPage(api, range, cursor, signal) {
      const { path, page } = await readDays(api, { chain, range, cursor }, signal, known);
      known = path;
      const read = api.recordsInPart('daily_returns', Datapoint, page.data);
      return { cursor: page.paging?.next_cursor, ...read, count: page.data.length };
    },
    async estimate(api, ranges, now, signal) {
      for (const range of ranges) await this.readPage(api, range, undefined, signal);
      return ranges.map((range) => {
        const { start, end } = spanOf(chain, range, now);
        return Math.ceil((end - start) / SECONDS_PER_DAY / PAGE_SIZE);
      });
    },
    // The service adds days that overlap the range, and the whole UTC days at its ends (api-facts 3.1).
    reachSeconds: 3 * SECONDS_PER_DAY,
    at: (day) => day.day_end,
    group: () => chain,
    stream: () => '',
    families: (days) => dailyReturnFamilies(chain, days, ({ day_end }) => ({ at: day_end })),
  };
}

const WINDOW_DAYS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90, all_time: Number.POSITIVE_INFINITY } as const;

/** At least a day, from genesis on. The service widens a range to whole days at both ends (api-facts 3.1). */
function spanOf(chain: Chain, range: PastRange, now: UnixSeconds): Span {
  const wanted =
    'window' in range
      ? { start: now - WINDOW_DAYS[range.window] * SECONDS_PER_DAY, end: now }
      : { start: range.start - SECONDS_PER_DAY, end: range.end + SECONDS_PER_DAY };
  const start = Math.max(CHAINS[chain].genesis, wanted.start);
  return { start, end: Math.max(start + SECONDS_PER_DAY, Math.min(now, wanted.end)) };
}

const HELP =
  'Newest finalized beaconchain-day, polled once a day. The terms of the service forbid use as a financial benchmark';

/** A number, or an amount in Wei. */
type DayValue = number | string | null | undefined;
type Described = readonly (readonly [labels: Labels, value: DayValue])[];
type ByLayer = { readonly consensus_layer?: DayValue; readonly execution_layer?: DayValue } | null | undefined;
type Averages = NonNullable<Datapoint['moving_averages']>['window_7d'];

function one(value: DayValue): Described {
  return [[{}, value]];
}

function byLayer(values: ByLayer): Described {
  return [
    [{ layer: 'consensus' }, values?.consensus_layer],
    [{ layer: 'execution' }, values?.execution_layer],
  ];
}

function byWindow({ moving_averages: averages }: Datapoint, describe: (averages: Averages) => Described): Described {
  const of = (window: string, ofWindow: Averages): Described =>
    describe(ofWindow).map(([labels, value]) => [{ window, ...labels }, value]);
  return [...of('7d', averages?.window_7d), ...of('31d', averages?.window_31d)];
}

const FAMILIES: readonly (readonly [name: string, help: string, describe: (day: Datapoint) => Described])[] = [
  ['day', 'Index of the day since genesis (day)', (day) => one(day.day)],
  ['start_timestamp_seconds', 'Start of the day, inclusive (day_start)', (day) => one(day.day_start)],
  ['end_timestamp_seconds', 'End of the day, exclusive (day_end)', (day) => one(day.day_end)],
  [
    'effective_balance_ether',
    'Effective balances of the validators active all day; the denominator of the APR (effective_balance)',
    (day) => one(day.effective_balance),
  ],
  ['start_balance_ether', 'Balances at the start of the day (start_balance)', (day) => one(day.start_balance)],
  [
    'end_balance_ether',
    'Balances at the end of the day, after withdrawals, which the API does not publish (end_balance)',
    (day) => one(day.end_balance),
  ],
  ['deposits_ether', 'Deposits credited during the day; not rewards (deposits)', (day) => one(day.deposits)],
  [
    'rewards_ether',
    'Rewards of the day by layer (rewards.consensus_layer, rewards.execution_layer); can be negative',
    (day) => byLayer(day.rewards),
  ],
  ['total_rewards_ether', 'Rewards of the day, both layers (rewards.total)', (day) => one(day.rewards?.total)],
  [
    'apr_ratio',
    'Simple annual return by layer, 1 = 100 % (apr.consensus_layer, apr.execution_layer)',
    (day) => byLayer(day.apr),
  ],
  [
    'combined_apr_ratio',
    'Simple annual return of both layers, 1 = 100 % (apr.combined)',
    (day) => one(day.apr?.combined),
  ],
  [
    'moving_average_apr_ratio',
    'Unweighted mean of the daily APR by layer over the window (moving_averages.window_*.apr)',
    (day) => byWindow(day, (averages) => byLayer(averages?.apr)),
  ],
  [
    'moving_average_combined_apr_ratio',
    'Unweighted mean of the combined daily APR over the window (moving_averages.window_*.apr.combined)',
    (day) => byWindow(day, (averages) => one(averages?.apr?.combined)),
  ],
  [
    'moving_average_rewards_ether',
    'Mean daily rewards by layer over the window (moving_averages.window_*.rewards)',
    (day) => byWindow(day, (averages) => byLayer(averages?.rewards)),
  ],
];

/** @param timeOf The time of a day's samples, for the backfill */
export function dailyReturnFamilies(
  chain: Chain,
  days: readonly Datapoint[],
  timeOf: (day: Datapoint) => Pick<Sample, 'at'> = () => ({}),
): Family[] {
  const samplesOf = ([labels, value]: Described[number], day: Datapoint): Sample[] =>
    sample(chain, typeof value === 'string' ? etherOf(value) : value, labels).map((one) => ({
      ...one,
      ...timeOf(day),
    }));
  return FAMILIES.map(([name, help, describe]) =>
    family(
      `daily_return_${name}`,
      `${help}. ${HELP}`,
      days.flatMap((day) => describe(day).flatMap((one) => samplesOf(one, day))),
    ),
  );
}
