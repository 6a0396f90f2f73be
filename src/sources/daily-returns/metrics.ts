import type { Datapoint } from '../../api/answers/daily-returns.ts';
import type { Chain } from '../../facts/chain.ts';
import { etherOf } from '../../facts/ether.ts';
import { type Family, type Labels, mergeFamilies, type Sample } from '../../toolkit/exposition/family.ts';

const TERMS =
  'Newest finalized beaconchain-day, polled once a day. By the terms of the service, it must not be used as a financial benchmark.';

const LAYERS = [
  ['consensus', 'consensus_layer'],
  ['execution', 'execution_layer'],
] as const;

const AVERAGES = [
  ['7d', 'window_7d'],
  ['31d', 'window_31d'],
] as const;

/** A number, or an amount in Wei. */
type DayValue = number | string | null | undefined;
type ByLayer = { readonly consensus_layer?: DayValue; readonly execution_layer?: DayValue };
type Averages = Datapoint['moving_averages']['window_7d'];
type DescribeDay = (day: Datapoint) => readonly [labels: Labels, value: DayValue][];

function one(value: (day: Datapoint) => DayValue): DescribeDay {
  return (day) => [[{}, value(day)]];
}

function byLayer(pick: (day: Datapoint) => ByLayer): DescribeDay {
  return (day) => LAYERS.map(([layer, field]) => [{ layer }, pick(day)[field]]);
}

function byWindow(value: (averages: Averages) => DayValue): DescribeDay {
  return (day) => AVERAGES.map(([window, field]) => [{ window }, value(day.moving_averages[field])]);
}

function byWindowAndLayer(pick: (averages: Averages) => ByLayer): DescribeDay {
  return (day) =>
    AVERAGES.flatMap(([window, average]) =>
      LAYERS.map(([layer, field]): [Labels, DayValue] => [
        { window, layer },
        pick(day.moving_averages[average])[field],
      ]),
    );
}

const FAMILIES: readonly (readonly [name: string, help: string, describe: DescribeDay])[] = [
  ['day', 'Index of the day since genesis (day)', one((day) => day.day)],
  ['start_timestamp_seconds', 'Start of the day, inclusive (day_start)', one((day) => day.day_start)],
  ['end_timestamp_seconds', 'End of the day, exclusive (day_end)', one((day) => day.day_end)],
  [
    'effective_balance_ether',
    'Sum of the effective balances of the validators active for the whole day; the denominator of the APR (effective_balance)',
    one((day) => day.effective_balance),
  ],
  [
    'start_balance_ether',
    'Sum of the balances at the start of the day (start_balance)',
    one((day) => day.start_balance),
  ],
  [
    'end_balance_ether',
    'Sum of the balances at the end of the day; not the sum of start balance, deposits and rewards, because withdrawals are not published (end_balance)',
    one((day) => day.end_balance),
  ],
  [
    'deposits_ether',
    'Deposits credited during the day; not part of the rewards (deposits)',
    one((day) => day.deposits),
  ],
  [
    'rewards_ether',
    'Rewards of the day by layer (rewards.consensus_layer, rewards.execution_layer); can be negative',
    byLayer((day) => day.rewards),
  ],
  ['total_rewards_ether', 'Rewards of the day, both layers together (rewards.total)', one((day) => day.rewards.total)],
  [
    'apr_ratio',
    'Simple annual return by layer, 1 = 100 % (apr.consensus_layer, apr.execution_layer)',
    byLayer((day) => day.apr),
  ],
  [
    'combined_apr_ratio',
    'Simple annual return of both layers together, 1 = 100 % (apr.combined)',
    one((day) => day.apr.combined),
  ],
  [
    'moving_average_apr_ratio',
    'Unweighted mean of the daily APR by layer over the window (moving_averages.window_*.apr)',
    byWindowAndLayer((averages) => averages.apr),
  ],
  [
    'moving_average_combined_apr_ratio',
    'Unweighted mean of the combined daily APR over the window (moving_averages.window_*.apr.combined)',
    byWindow((averages) => averages.apr.combined),
  ],
  [
    'moving_average_rewards_ether',
    'Mean daily rewards by layer over the window (moving_averages.window_*.rewards)',
    byWindowAndLayer((averages) => averages.rewards),
  ],
];

/** Every daily-return family; without samples before the first day is known. */
export function dailyReturnFamilies(chain: Chain, day: Datapoint | undefined): Family[] {
  return FAMILIES.map(([name, help, describe]) => ({
    name: `beaconchain_daily_return_${name}`,
    type: 'gauge',
    help: `${help}. ${TERMS}`,
    samples: day ? describe(day).flatMap(([labels, value]) => sample({ chain, ...labels }, value)) : [],
  }));
}

/** The families of several days, each sample with the time of the end of its day. */
export function pastReturnFamilies(chain: Chain, days: readonly Datapoint[]): Family[] {
  const timed = days.flatMap((day) =>
    dailyReturnFamilies(chain, day).map((family) => ({
      ...family,
      samples: family.samples.map((sample) => ({ ...sample, at: day.day_end })),
    })),
  );
  return mergeFamilies(timed);
}

/** A null or absent field gives no sample. */
function sample(labels: Labels, value: DayValue): Sample[] {
  if (value == null) return [];
  return [{ labels, value: typeof value === 'string' ? etherOf(value) : value }];
}
