import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { api, budget } from './budget.ts';
import { ofExporter, ofSource, QUOTA_LEFT } from './exporter-queries.ts';
import { above, BAD, below, POOR, words } from './look.ts';
import { graph, RATE_STEP, stat, table } from './panels.ts';
import { dashboard, type Section } from './shell.ts';
import { threshold } from './thresholds.ts';

/** With a number for its lowest step: Grafana takes none, which is usual there, for 0. */
const DUE = [
  { value: -1e9, color: POOR },
  { value: -threshold('source_stale_seconds'), color: 'green' },
];

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
      queries: [[`min(${QUOTA_LEFT})`, '']],
      noValue: 'no quota',
      steps: below(threshold('budget_remaining_ratio')),
    }),
    table({
      title: 'Sources',
      height: 10,
      description:
        'How each kind of data is doing, with its effective interval. One that is long overdue is the alert SourceStale; one that waits for the quota is SourceWaitsForQuota.',
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
          { name: 'Due in', unit: 's', decimals: 0, steps: DUE },
        ],
        [
          `${ofSource('beaconchain_source_quota_wait_end_timestamp_seconds > 0')} - time()`,
          { name: 'Waits for quota', unit: 's', decimals: 0, steps: [{ value: 0, color: POOR }] },
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
      interval: RATE_STEP,
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
