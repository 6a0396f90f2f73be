import {
  MONTH_LEFT,
  MONTH_USED_BY_OTHERS,
  MONTH_USED_HERE,
  ofSource,
  QUOTA_LEFT,
  withName,
} from './exporter-queries.ts';
import { INVALID_RECORDS, STRETCHED } from './limits.ts';
import { graph, WHOLE } from './panels/graph.ts';
import type { Section } from './shell.ts';

export const budget: Section = {
  title: 'Budget',
  panels: [
    graph({
      title: 'Quota left',
      description: 'Share of each enforced window that is left. Empty if the plan has no quota.',
      unit: 'percentunit',
      min: 0,
      max: 1,
      queries: [[QUOTA_LEFT, '{{bucket}}, {{window}}']],
    }),
    graph({
      title: 'Use of the monthly quota',
      description:
        'Requests of the monthly quota: used by this exporter, used by others on the account, and left. Empty if the plan has no monthly quota.',
      unit: 'suffix:requests',
      ...WHOLE,
      stacked: true,
      queries: [
        [MONTH_USED_HERE, '{{bucket}}, this exporter'],
        [MONTH_USED_BY_OTHERS, '{{bucket}}, others'],
        [MONTH_LEFT, '{{bucket}}, left'],
      ],
      colors: { '.*, this exporter': 'blue', '.*, others': 'orange', '.*, left': 'green' },
    }),
    graph({
      title: 'Requests per day',
      description: 'Planned requests at the effective intervals, by source.',
      unit: 'suffix:requests',
      ...WHOLE,
      stacked: true,
      queries: [['max by (source) (beaconchain_budget_planned_requests_per_day)', '{{source}}']],
    }),
    graph({
      title: 'Requests',
      description: 'Requests sent per minute, including retries.',
      unit: 'reqpm',
      min: 0,
      stacked: true,
      interval: '5m',
      queries: [['60 * sum by (endpoint) (rate(beaconchain_api_requests_total[$__rate_interval]))', '{{endpoint}}']],
    }),
    graph({
      title: 'Planned / allowed',
      description:
        'Requests planned at the effective intervals / requests that the limits allow. Intervals are stretched before the ratio exceeds 100 %.',
      unit: 'percentunit',
      min: 0,
      softMax: 1,
      queries: [
        [
          'sum(max by (source) (beaconchain_budget_planned_requests_per_day)) / min(beaconchain_budget_allowed_requests_per_day)',
          'planned / allowed',
        ],
      ],
    }),
    graph({
      title: 'Stretch',
      description: 'Effective interval / configured interval of each source. 1 is as configured.',
      unit: 'suffix:x',
      min: 0,
      held: true,
      queries: [['max by (source) (beaconchain_budget_stretch_ratio)', '{{source}}']],
      limit: STRETCHED,
    }),
    graph({
      title: 'Waiting for the budget',
      description: 'Seconds per second that requests waited for the budget.',
      unit: 's',
      softMax: 1,
      min: 0,
      interval: '5m',
      queries: [['sum(rate(beaconchain_budget_wait_seconds_total[$__rate_interval]))', 'waiting']],
    }),
  ],
};

export const api: Section = {
  title: 'API',
  panels: [
    graph({
      title: 'Response time, 95th percentile',
      description: 'From sending a request to the end of its response, excluding waits for the budget.',
      unit: 's',
      min: 0,
      interval: '5m',
      queries: [
        [
          'histogram_quantile(0.95, sum by (endpoint, le) (rate(beaconchain_api_request_duration_seconds_bucket[$__rate_interval]))) > 0',
          '{{endpoint}}',
        ],
      ],
    }),
    graph({
      title: 'Failed requests',
      description: 'Failed requests in each step, by reason. Empty if no request fails.',
      ...WHOLE,
      bars: true,
      interval: '5m',
      queries: [
        [
          'sum by (endpoint, reason) (increase(beaconchain_api_request_failures_total[$__rate_interval])) > 0',
          '{{endpoint}}, {{reason}}',
        ],
      ],
    }),
    graph({
      title: 'Invalid records',
      description: 'Invalid records that were dropped, within 6 hours.',
      ...WHOLE,
      queries: [['sum by (endpoint) (increase(beaconchain_api_invalid_records_total[6h]))', '{{endpoint}}']],
      limit: INVALID_RECORDS,
    }),
    graph({
      title: 'Time since the last success',
      description: 'Daily sources are polled once a day, so their line is a sawtooth.',
      unit: 's',
      min: 0,
      queries: [
        [withName(`time() - ${ofSource('beaconchain_source_last_success_timestamp_seconds > 0')}`), '{{name}}'],
      ],
    }),
  ],
};
