import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder as TextBuilder } from '@grafana/grafana-foundation-sdk/text';
import { RETURN_DROPPED, RETURN_LATE } from './limits.ts';
import { graph, WHOLE } from './panels/graph.ts';
import { limitedStat, stat } from './panels/stat.ts';
import { daily } from './queries.ts';
import { dashboard, type Section } from './shell.ts';

const CHAIN_NAME = '{{chain}}';
const BY_LAYER = 'chain, layer';
/** There is one value a day, so queries need no shorter step. */
const DAILY = { held: true, interval: '1h' } as const;
const APR = { unit: 'percentunit', decimals: 2 } as const;

/** The terms of use of daily returns. */
export function terms(about: string, { span = 24, height = 2 } = {}): TextBuilder {
  const content = `**Not a financial benchmark.** By the terms of the service, these numbers must not be used as one. ${about}`;
  return new TextBuilder().title('').content(content).transparent(true).span(span).height(height);
}

const newest: Section = {
  title: '',
  panels: [
    terms('They describe all validators of a network on the newest finalized day, and are polled once a day.'),
    stat({
      title: 'Return of the newest day',
      description: 'Simple annual return of both layers.',
      ...APR,
      history: true,
      span: 5,
      queries: [[daily('combined_apr_ratio'), CHAIN_NAME]],
    }),
    stat({
      title: 'Mean of 7 days',
      description: 'Unweighted mean of the daily returns.',
      ...APR,
      history: true,
      span: 5,
      queries: [[daily('moving_average_combined_apr_ratio', 'chain', 'window="7d"'), CHAIN_NAME]],
    }),
    stat({
      title: 'Mean of 31 days',
      description: 'Unweighted mean of the daily returns.',
      ...APR,
      history: true,
      span: 5,
      queries: [[daily('moving_average_combined_apr_ratio', 'chain', 'window="31d"'), CHAIN_NAME]],
    }),
    stat({
      title: 'Day',
      description: 'Index of the newest day since genesis.',
      decimals: 0,
      span: 4,
      queries: [[daily('day'), CHAIN_NAME]],
    }),
    limitedStat({
      title: 'Ended',
      description:
        'Time since the end of the newest day. The next day is published about an hour after it ends, so up to 25 hours are normal.',
      unit: 's',
      decimals: 0,
      span: 5,
      query: [`time() - ${daily('end_timestamp_seconds')}`, CHAIN_NAME],
      limit: RETURN_LATE,
    }),
  ],
};

const returns: Section = {
  title: 'Returns',
  panels: [
    graph({
      title: 'Return',
      description:
        'Simple annual return of both layers, per day and as moving averages. Past days are shown if a backfill wrote them.',
      ...APR,
      ...DAILY,
      span: 24,
      height: 10,
      isCrowded: true,
      queries: [
        [daily('combined_apr_ratio'), '{{chain}}, day'],
        [daily('moving_average_combined_apr_ratio', 'chain, window'), '{{chain}}, mean of {{window}}'],
      ],
    }),
    graph({
      title: 'Return by layer',
      description:
        'Consensus layer: attestations, proposals, sync committees. Execution layer: fees and tips. The return of a day can be negative.',
      ...APR,
      ...DAILY,
      queries: [[daily('apr_ratio', BY_LAYER), '{{chain}}, {{layer}}']],
    }),
    graph({
      title: 'Return against its mean of 31 days',
      description: 'Return of the newest day / mean of the 31 days that end with it.',
      unit: 'percentunit',
      decimals: 0,
      ...DAILY,
      queries: [
        [
          `${daily('combined_apr_ratio')} / (${daily('moving_average_combined_apr_ratio', 'chain', 'window="31d"')} > 0)`,
          CHAIN_NAME,
        ],
      ],
      limit: RETURN_DROPPED,
    }),
  ],
};

const amounts: Section = {
  title: 'Amounts',
  panels: [
    graph({
      title: 'Rewards of a day',
      description: 'Of all validators, by layer.',
      unit: 'suffix:ETH',
      decimals: 0,
      ...DAILY,
      queries: [[daily('rewards_ether', BY_LAYER), '{{chain}}, {{layer}}']],
    }),
    graph({
      title: 'Deposits of a day',
      description: 'Credited during the day; not part of the rewards.',
      unit: 'suffix:ETH',
      ...WHOLE,
      ...DAILY,
      queries: [[daily('deposits_ether'), CHAIN_NAME]],
    }),
    graph({
      title: 'Effective balance',
      description: 'Sum over the validators active for the whole day: the denominator of the return.',
      unit: 'suffix:M ETH',
      decimals: 2,
      ...DAILY,
      queries: [[`${daily('effective_balance_ether')} / 1e6`, CHAIN_NAME]],
    }),
    graph({
      title: 'Balance withdrawn',
      description:
        'Balance at the start of the day, plus deposits and consensus rewards, minus the balance at the end. This is an estimate of the withdrawals, which the service does not publish.',
      unit: 'suffix:ETH',
      decimals: 0,
      ...DAILY,
      queries: [
        [
          `${daily('start_balance_ether')} + ${daily('deposits_ether')} + ${daily('rewards_ether', 'chain', 'layer="consensus"')} - ${daily('end_balance_ether')}`,
          CHAIN_NAME,
        ],
      ],
    }),
  ],
};

export function networkReturns(): Dashboard {
  return dashboard({
    uid: 'beaconchain-returns',
    title: 'Network returns',
    description:
      'What the validators of a network earned, day by day. By the terms of the service, it must not be used as a financial benchmark.',
    range: '90d',
    variables: ['chain'],
    annotations: [],
    sections: [newest, returns, amounts],
  });
}
