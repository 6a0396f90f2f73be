import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { firingAlerts } from './alerts.ts';
import { api, budget } from './budget.ts';
import { ofExporter, ofSource, QUOTA_LEFT, UP, withName } from './exporter-queries.ts';
import { STRETCHED } from './limits.ts';
import { BAD, from, POOR, words } from './look.ts';
import { graph, RATE_STEP } from './panels/graph.ts';
import { limitedStat, stat } from './panels/stat.ts';
import { table } from './panels/table.ts';
import { timeline } from './panels/timeline.ts';
import { dashboard, type Section } from './shell.ts';
import { DUE_IN, QUOTA_WAIT, SOURCE_STATE, SOURCE_STATES } from './source-state.ts';

const now: Section = {
  title: '',
  panels: [
    stat({
      title: 'Exporter',
      description:
        'Whether Prometheus can scrape the exporter. If a job has no target left, nothing is shown here, and the alert BeaconchainExporterDown fires.',
      queries: [[UP, '{{instance}}']],
      mappings: words('up', 'down'),
    }),
    stat({
      title: 'API key',
      description: 'Whether the service accepts the API key, as in the alert BeaconchainApiKeyInvalid.',
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
      steps: from(1),
    }),
    limitedStat({
      title: 'Largest stretch',
      description: 'Effective interval / configured interval of the most stretched source. 1 is as configured.',
      decimals: 1,
      unit: 'suffix:x',
      history: true,
      query: ['max(beaconchain_budget_stretch_ratio)', 'stretch'],
      limit: STRETCHED,
    }),
    stat({
      title: 'Quota left',
      description: 'Share of the monthly (or hourly) quota that is left, in the bucket with the least left.',
      unit: 'percentunit',
      decimals: 0,
      history: true,
      queries: [[`min(${QUOTA_LEFT})`, 'left']],
      noValue: 'no quota',
    }),
    firingAlerts({ subject: 'exporter' }),
    timeline({
      title: 'State of the sources',
      description:
        '"overdue" corresponds to the alert BeaconchainSourceStale, "waits for the quota" to BeaconchainSourceWaitsForQuota, and "failed" to BeaconchainSourceFailing.',
      span: 12,
      height: 8,
      queries: [[withName(SOURCE_STATE), '{{name}}']],
      mappings: SOURCE_STATES,
    }),
    table({
      title: 'Sources',
      height: 10,
      description: 'State of each source of data, with its effective interval.',
      labels: { source: { name: 'Source' }, chain: { name: 'Chain', width: 85 } },
      values: [
        [SOURCE_STATE, { name: 'State', width: 150, mappings: SOURCE_STATES }],
        [
          `time() - ${ofSource('beaconchain_source_last_attempt_timestamp_seconds > 0')}`,
          { name: 'Polled ago', unit: 's', decimals: 0, width: 95 },
        ],
        [
          `time() - ${ofSource('beaconchain_source_last_success_timestamp_seconds > 0')}`,
          { name: 'Success ago', unit: 's', decimals: 0, width: 105 },
        ],
        [DUE_IN, { name: 'Due in', unit: 's', decimals: 0, width: 90 }],
        [
          QUOTA_WAIT,
          { name: 'Waits for quota', unit: 's', decimals: 0, width: 125, steps: [{ value: 0, color: POOR }] },
        ],
        [ofSource('beaconchain_source_interval_seconds'), { name: 'Interval', unit: 's', decimals: 0, width: 85 }],
        [ofSource('beaconchain_source_duration_seconds'), { name: 'Duration', unit: 's', decimals: 1, width: 85 }],
        [ofSource('beaconchain_source_attempts_total'), { name: 'Polls', decimals: 0, width: 75 }],
        [ofSource('beaconchain_source_failures_total'), { name: 'Failures', decimals: 0, width: 85, steps: from(1) }],
      ],
      sortBy: 'State',
    }),
  ],
};

const process: Section = {
  title: 'Process',
  panels: [
    stat({
      title: 'Configuration',
      description: 'Whether the last configuration reload succeeded, as in the alert BeaconchainConfigReloadFailed.',
      span: 6,
      queries: [['min(beaconchain_exporter_config_last_reload_successful)', '']],
      mappings: words('accepted', 'refused'),
    }),
    stat({
      title: 'Last configuration load',
      description: 'Time since the last successful load of the configuration.',
      unit: 's',
      decimals: 0,
      span: 6,
      queries: [['time() - min(beaconchain_exporter_config_last_reload_success_timestamp_seconds)', '']],
    }),
    stat({
      title: 'Failed state writes',
      description:
        'Failed writes of the state in the selected time range, as in the alert BeaconchainStateWriteFailing.',
      decimals: 0,
      span: 6,
      queries: [['sum(increase(beaconchain_exporter_state_write_failures_total[$__range]))', '']],
      steps: from(1, BAD),
    }),
    stat({
      title: 'Machines dropped',
      description: 'Machines dropped because of machines.max.',
      span: 6,
      queries: [['max(beaconchain_machines_dropped)', '']],
      steps: from(1),
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
      description: 'Versions of the exporter and of Node. The leader is the replica that polls.',
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
    description: 'Whether the exporter works, how many requests it makes, and how much of the quota is left.',
    range: '24h',
    variables: [],
    annotations: [],
    sections: [now, budget, api, process],
  });
}
