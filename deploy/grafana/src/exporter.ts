import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { above, BAD, below, graph, lineAt, POOR, stat, table, words } from './panels.ts';
import { dashboard, type Section } from './shell.ts';
import { threshold } from './thresholds.ts';

const OWN = 'on (job, instance) group_left () last_over_time(beaconchain_exporter_build_info[1d])';
/** A source, with its chain where it has one: Grafana writes the name of a label that is not there. */
const SOURCE = '{{name}}';

function named(expr: string): string {
  return `label_join(${expr}, "name", " ", "source", "chain")`;
}

function ofExporter(metric: string): string {
  return `max by (instance) (${metric} and ${OWN.replace(' group_left ()', '')})`;
}

function ofSource(expr: string): string {
  return `max by (source, chain) (${expr})`;
}

/** Share of a window that is left. Minute and day are no real windows, nor is an hour that repeats the month. */
const LEFT = `min by (bucket, window) (beaconchain_ratelimit_remaining{window=~"hour|month"} / (beaconchain_ratelimit_limit{window=~"hour|month"} > 0) unless on (job, instance, bucket, window) (beaconchain_ratelimit_limit{window="hour"} == ignoring (window) group_left () beaconchain_ratelimit_limit{window="month"}))`;

const now: Section = {
  title: '',
  panels: [
    stat({
      title: 'Exporter',
      description: 'Whether Prometheus can scrape it. As the alert ExporterDown.',
      queries: [[ofExporter('up'), '{{instance}}']],
      mappings: words('up', 'down'),
    }),
    stat({
      title: 'API key',
      description: 'Whether the service accepts it. As the alert ApiKeyInvalid.',
      queries: [['min(beaconchain_api_key_valid)', '']],
      mappings: words('valid', 'refused'),
      noValue: 'not yet asked',
    }),
    stat({
      title: 'Access',
      description: 'Revoked: the trial is over or the subscription was cancelled, and all polling has stopped.',
      queries: [['max(beaconchain_api_access_revoked)', '']],
      mappings: words('revoked', 'granted', 'one'),
    }),
    stat({
      title: 'Sources failing',
      description: 'Sources whose last poll failed.',
      queries: [['count(beaconchain_source_up == 0) or vector(0)', '']],
      steps: above(1),
    }),
    stat({
      title: 'Largest stretch',
      description:
        'Effective interval / configured interval of the source that is stretched most; 1 is as configured. As the alert BudgetStretched.',
      decimals: 1,
      unit: 'suffix:x',
      queries: [['max(beaconchain_budget_stretch_ratio)', '']],
      steps: above(threshold('stretch_ratio')),
    }),
    stat({
      title: 'Quota left',
      description: 'Of the month (or hour) of the bucket that has least. As the alert BudgetNearlyUsed.',
      unit: 'percentunit',
      decimals: 0,
      queries: [[`min(${LEFT})`, '']],
      noValue: 'no quota',
      steps: below(threshold('budget_remaining_ratio')),
    }),
    table({
      title: 'Sources',
      height: 10,
      description:
        'How each kind of data is doing, with its effective interval. One that is long overdue is the alert SourceStale.',
      labels: { source: { name: 'Source', width: 160 }, chain: { name: 'Chain', width: 110 } },
      values: [
        [ofSource('beaconchain_source_up'), { name: 'Last poll', mappings: words('succeeded', 'failed') }],
        [
          `time() - ${ofSource('beaconchain_source_last_attempt_timestamp_seconds > 0')}`,
          { name: 'Polled ago', unit: 's', decimals: 0 },
        ],
        [
          `time() - ${ofSource('beaconchain_source_last_success_timestamp_seconds > 0')}`,
          { name: 'Success ago', unit: 's', decimals: 0 },
        ],
        [
          `${ofSource('beaconchain_source_next_attempt_timestamp_seconds > 0')} - time()`,
          { name: 'Due in', unit: 's', decimals: 0, steps: below(-threshold('source_stale_seconds')) },
        ],
        [ofSource('beaconchain_source_interval_seconds'), { name: 'Interval', unit: 's', decimals: 0 }],
        [ofSource('beaconchain_source_duration_seconds'), { name: 'Duration', unit: 's', decimals: 1 }],
        [ofSource('beaconchain_source_attempts_total'), { name: 'Polls', decimals: 0 }],
        [ofSource('beaconchain_source_failures_total'), { name: 'Failures', decimals: 0, steps: above(1) }],
      ],
      sortBy: 'Success ago',
    }),
  ],
};

const budget: Section = {
  title: 'Budget',
  panels: [
    graph({
      title: 'Quota left',
      description: 'Share of each real window. The line is the alert BudgetNearlyUsed.',
      unit: 'percentunit',
      min: 0,
      max: 1,
      queries: [[LEFT, '{{bucket}}, {{window}}']],
      steps: lineAt(threshold('budget_remaining_ratio')),
    }),
    graph({
      title: 'Requests per day',
      description: 'What the effective intervals ask for, by source.',
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
      title: 'Planned of what is allowed',
      description:
        'Requests that the plan asks for, of those that the limits leave; and the stretch of each source, 1 as configured. The line is the alert BudgetStretched.',
      min: 0,
      queries: [
        [
          'sum(max by (source) (beaconchain_budget_planned_requests_per_day)) / min(beaconchain_budget_allowed_requests_per_day)',
          'planned / allowed',
        ],
        ['max by (source) (beaconchain_budget_stretch_ratio)', '{{source}}, stretch'],
      ],
      steps: lineAt(threshold('stretch_ratio')),
    }),
    graph({
      title: 'Waiting for the budget',
      span: 24,
      height: 6,
      softMax: 1,
      description: 'Seconds that requests waited, per second.',
      min: 0,
      interval: '5m',
      queries: [['sum(rate(beaconchain_budget_wait_seconds_total[$__rate_interval]))', 'waiting']],
    }),
  ],
};

const api: Section = {
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
      min: 0,
      decimals: 0,
      bars: true,
      stacked: true,
      interval: '5m',
      queries: [
        [
          'sum by (endpoint, reason) (increase(beaconchain_api_request_failures_total[$__interval]))',
          '{{endpoint}}, {{reason}}',
        ],
      ],
    }),
    graph({
      title: 'Invalid records',
      description: 'Dropped because they could not be read, within 6 hours. The line is the alert InvalidRecords.',
      min: 0,
      decimals: 0,
      softMax: threshold('invalid_records') + 1,
      queries: [['sum by (endpoint) (increase(beaconchain_api_invalid_records_total[6h]))', '{{endpoint}}']],
      steps: lineAt(threshold('invalid_records')),
    }),
    graph({
      title: 'Time since the last success',
      description: 'Daily sources wait for the next day: their line is a saw tooth.',
      unit: 's',
      min: 0,
      queries: [[named(`time() - ${ofSource('beaconchain_source_last_success_timestamp_seconds > 0')}`), SOURCE]],
    }),
  ],
};

const process: Section = {
  title: 'Process',
  panels: [
    stat({
      title: 'Configuration',
      description: 'Whether the last reload was accepted. As the alert ConfigReloadFailed.',
      span: 6,
      queries: [['min(beaconchain_exporter_config_last_reload_successful)', '']],
      mappings: words('accepted', 'refused'),
    }),
    stat({
      title: 'Configuration read',
      description: 'Time since it was last read without a mistake.',
      unit: 's',
      decimals: 0,
      span: 6,
      queries: [['time() - min(beaconchain_exporter_config_last_reload_success_timestamp_seconds)', '']],
    }),
    stat({
      title: 'Writes of the state that failed',
      description: 'In the time that is shown. As the alert StateWriteFailing.',
      decimals: 0,
      span: 6,
      queries: [['sum(increase(beaconchain_exporter_state_write_failures_total[$__range]))', '']],
      steps: above(1, BAD),
    }),
    stat({
      title: 'Machines dropped',
      description: 'Beyond machines.max.',
      span: 6,
      queries: [['max(beaconchain_machines_dropped)', '']],
      steps: above(1, POOR),
    }),
    graph({
      title: 'Memory',
      description: 'Resident.',
      unit: 'bytes',
      min: 0,
      queries: [[ofExporter('process_resident_memory_bytes'), '{{instance}}']],
    }),
    graph({
      title: 'CPU',
      description: 'Share of one CPU.',
      unit: 'percentunit',
      min: 0,
      interval: '1m',
      queries: [[ofExporter('rate(process_cpu_seconds_total[$__rate_interval])'), '{{instance}}']],
    }),
    table({
      title: 'Versions',
      description: 'Of the exporter and of its Node; the replica that polls is the leader.',
      height: 4,
      labels: {
        instance: { name: 'Instance' },
        version: { name: 'Version' },
        revision: { name: 'Revision' },
        node_version: { name: 'Node' },
      },
      values: [
        [
          'max by (instance, version, revision, node_version) (beaconchain_exporter_build_info * on (job, instance) group_left () beaconchain_exporter_leader)',
          { name: 'Leader', mappings: words('yes', 'no') },
        ],
      ],
      sortBy: 'Instance',
      ascending: true,
    }),
  ],
};

export function exporter(): Dashboard {
  return dashboard({
    uid: 'beaconchain-exporter',
    title: 'Exporter and budget',
    description: 'Is it working, what does it ask of the service, and what is left?',
    range: '24h',
    variables: [],
    annotations: [],
    sections: [now, budget, api, process],
  });
}
