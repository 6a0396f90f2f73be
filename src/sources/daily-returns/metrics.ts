import type { Datapoint } from '../../api/answers/daily-returns.ts';
import type { Chain } from '../../facts/chain.ts';
import { etherOf } from '../../facts/ether.ts';
import type { Family, Labels, Sample } from '../../toolkit/exposition/family.ts';

const TERMS =
  'Newest finalized beaconchain-day, polled once a day. By the terms of the service, it must not be used as a financial benchmark.';

/** A number, or an amount in Wei. */
type DayValue = number | string | null | undefined;
type Described = readonly (readonly [labels: Labels, value: DayValue])[];
type DescribeDay = (day: Datapoint) => Described;
type ByLayer = { readonly consensus_layer?: DayValue; readonly execution_layer?: DayValue };
type Averages = Datapoint['moving_averages']['window_7d'];

function one(value: DayValue): Described {
  return [[{}, value]];
}

function byLayer({ consensus_layer, execution_layer }: ByLayer): Described {
  return [
    [{ layer: 'consensus' }, consensus_layer],
    [{ layer: 'execution' }, execution_layer],
  ];
}

function byWindow({ moving_averages: averages }: Datapoint, describe: (averages: Averages) => Described): Described {
  const of = (window: string, ofWindow: Averages): Described =>
    describe(ofWindow).map(([labels, value]) => [{ window, ...labels }, value]);
  return [...of('7d', averages.window_7d), ...of('31d', averages.window_31d)];
}

const FAMILIES: readonly (readonly [name: string, help: string, describe: DescribeDay])[] = [
  ['day', 'Index of the day since genesis (day)', (day) => one(day.day)],
  ['start_timestamp_seconds', 'Start of the day, inclusive (day_start)', (day) => one(day.day_start)],
  ['end_timestamp_seconds', 'End of the day, exclusive (day_end)', (day) => one(day.day_end)],
  [
    'effective_balance_ether',
    'Sum of the effective balances of the validators active for the whole day; the denominator of the APR (effective_balance)',
    (day) => one(day.effective_balance),
  ],
  [
    'start_balance_ether',
    'Sum of the balances at the start of the day (start_balance)',
    (day) => one(day.start_balance),
  ],
  [
    'end_balance_ether',
    'Sum of the balances at the end of the day; not the sum of start balance, deposits and rewards, because withdrawals are not published (end_balance)',
    (day) => one(day.end_balance),
  ],
  [
    'deposits_ether',
    'Deposits credited during the day; not part of the rewards (deposits)',
    (day) => one(day.deposits),
  ],
  [
    'rewards_ether',
    'Rewards of the day by layer (rewards.consensus_layer, rewards.execution_layer); can be negative',
    (day) => byLayer(day.rewards),
  ],
  ['total_rewards_ether', 'Rewards of the day, both layers together (rewards.total)', (day) => one(day.rewards.total)],
  [
    'apr_ratio',
    'Simple annual return by layer, 1 = 100 % (apr.consensus_layer, apr.execution_layer)',
    (day) => byLayer(day.apr),
  ],
  [
    'combined_apr_ratio',
    'Simple annual return of both layers together, 1 = 100 % (apr.combined)',
    (day) => one(day.apr.combined),
  ],
  [
    'moving_average_apr_ratio',
    'Unweighted mean of the daily APR by layer over the window (moving_averages.window_*.apr)',
    (day) => byWindow(day, ({ apr }) => byLayer(apr)),
  ],
  [
    'moving_average_combined_apr_ratio',
    'Unweighted mean of the combined daily APR over the window (moving_averages.window_*.apr.combined)',
    (day) => byWindow(day, ({ apr }) => one(apr.combined)),
  ],
  [
    'moving_average_rewards_ether',
    'Mean daily rewards by layer over the window (moving_averages.window_*.rewards)',
    (day) => byWindow(day, ({ rewards }) => byLayer(rewards)),
  ],
];

export function dailyReturnFamilies(chain: Chain, day: Datapoint | undefined): Family[] {
  return familiesOf((describe) => (day ? samplesOf(chain, describe(day)) : []));
}

/** The families of several days, each sample with the time of the end of its day. */
export function pastReturnFamilies(chain: Chain, days: readonly Datapoint[]): Family[] {
  return familiesOf((describe) =>
    days.flatMap((day) => samplesOf(chain, describe(day)).map((sample) => ({ ...sample, at: day.day_end }))),
  );
}

function familiesOf(samples: (describe: DescribeDay) => Sample[]): Family[] {
  return FAMILIES.map(([name, help, describe]) => ({
    name: `beaconchain_daily_return_${name}`,
    type: 'gauge',
    help: `${help}. ${TERMS}`,
    samples: samples(describe),
  }));
}

/** A null or absent field gives no sample. */
function samplesOf(chain: Chain, described: Described): Sample[] {
  return described.flatMap(([labels, value]) =>
    value == null ? [] : [{ labels: { chain, ...labels }, value: typeof value === 'string' ? etherOf(value) : value }],
  );
}
