import {
  MONTH_LEFT,
  MONTH_USED_BY_OTHERS,
  MONTH_USED_HERE,
  ofSource,
  QUOTA_LEFT,
  TAKEN_RATIO,
  withName,
} from './exporter-queries.ts';
import { INVALID_RECORDS, QUOTA_LOW, STRETCHED, TAKEN_BY_OTHERS } from './limits.ts';
import { graph } from './panels/graph.ts';
import type { Section } from './shell.ts';

export const budget: Section = {
  title: 'Budget',
  panels: [
    graph({
      title: 'Quota left',
      description: 'Share of each real window.',
      unit: 'percentunit',
      min: 0,
      max: 1,
      queries: [[QUOTA_LEFT, '{{bucket}}, {{window}}']],
      limit: QUOTA_LOW,
    }),
    graph({
      title: 'Who used the month',
      description:
        "Requests of the month's quota: those of this exporter, those of others on the account, and what is left for all. Empty where the plan has no such quota.",
      unit: 'suffix:requests',
      min: 0,
      decimals: 0,
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
      description: 'What the effective intervals ask for, by source.',
      unit: 'suffix:requests',
      min: 0,
      decimals: 0,
      stacked: true,
      queries: [['max by (source) (beaconchain_budget_planned_requests_per_day)', '{{source}}']],
    }),
    graph({
      title: 'Requests',
      description: 'That left, per minute, retries included: what the service charges for.',
      unit: 'reqpm',
      min: 0,
      stacked: true,
      interval: '5m',
      queries: [['60 * sum by (endpoint) (rate(beaconchain_api_requests_total[$__rate_interval]))', '{{endpoint}}']],
    }),
    graph({
      title: 'Planned / allowed',
      description:
        'Requests that the effective intervals ask for, of those that the limits leave. Intervals are lengthened before it exceeds 100 %.',
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
      description: 'Effective interval / configured interval of each source; 1 is as configured.',
      unit: 'suffix:x',
      min: 0,
      held: true,
      queries: [['max by (source) (beaconchain_budget_stretch_ratio)', '{{source}}']],
      limit: STRETCHED,
    }),
    graph({
      title: 'Taken by others',
      description: 'What others on the account use of the requests that there would be without them.',
      unit: 'percentunit',
      min: 0,
      softMax: 1,
      queries: [[TAKEN_RATIO, '{{bucket}}']],
      limit: TAKEN_BY_OTHERS,
    }),
    graph({
      title: 'Waiting for the budget',
      description: 'Seconds that requests waited, per second.',
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
      title: 'Time of an answer, 95 %',
      description: 'From sending to the end of the answer, without the wait for the budget.',
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
      description: 'New ones in each step, by reason. Empty as long as none fails.',
      unit: 'none',
      min: 0,
      decimals: 0,
      bars: true,
      stacked: true,
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
      description: 'Dropped because they could not be read, within 6 hours.',
      unit: 'none',
      min: 0,
      decimals: 0,
      queries: [['sum by (endpoint) (increase(beaconchain_api_invalid_records_total[6h]))', '{{endpoint}}']],
      limit: INVALID_RECORDS,
    }),
    graph({
      title: 'Time since the last success',
      description: 'Daily sources wait for the next day: their line is a saw tooth.',
      unit: 's',
      min: 0,
      queries: [
        [withName(`time() - ${ofSource('beaconchain_source_last_success_timestamp_seconds > 0')}`), '{{name}}'],
      ],
    }),
  ],
};
