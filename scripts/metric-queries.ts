import type { MetricType } from '../src/metrics/family.ts';

/** What is asked of a family where the rules below do not tell. Names without `beaconchain_`. */
const QUERIES: Readonly<Record<string, string>> = {
  machine_last_seen_timestamp_seconds: 'time() - max without (process) (NAME)',
  machine_info: 'count by (os) (NAME)',
  machine_cpu_idle_seconds_total: '1 - rate(NAME[15m]) / rate(beaconchain_machine_cpu_seconds_total[15m])',
  machine_memory_free_bytes: 'NAME / beaconchain_machine_memory_total_bytes',
  machine_disk_free_bytes: 'NAME / beaconchain_machine_disk_total_bytes',
  machine_disk_total_bytes: 'NAME - beaconchain_machine_disk_free_bytes',
  machine_boot_time_seconds: 'time() - NAME',
  machine_client_info: 'count by (client_name, client_version) (NAME)',
  machine_consensus_fallback_connected: 'NAME == 1',
  machine_execution_fallback_connected: 'NAME == 1',
  machine_validators: 'sum by (chain) (NAME)',
  machine_validators_active: 'beaconchain_machine_validators - NAME',
  machine_peers: 'NAME < 10',
  machine_execution_connected: 'NAME == 0',
  machine_synced: 'NAME == 0',
  machine_head_slot:
    '(beaconchain_machine_last_seen_timestamp_seconds{process="node"} - on (chain) group_left () beaconchain_genesis_timestamp_seconds) / 12 - ignoring (process) NAME',
  machines_dropped: 'NAME > 0',
  daily_return_deposits_ether: 'last_over_time(NAME[2d])',
  daily_return_combined_apr_ratio: 'last_over_time(NAME[2d])',
  daily_return_rewards_ether: 'sum without (layer) (NAME)',
  daily_return_end_balance_ether: 'NAME - beaconchain_daily_return_start_balance_ether',
  genesis_timestamp_seconds: '(time() - NAME) / 12',
  head_slot: '(time() - beaconchain_genesis_timestamp_seconds) / 12 - NAME',
  head_epoch: 'NAME - beaconchain_finalized_epoch',
  head_base_fee_wei: 'NAME / 1e9',
  head_gas_used: 'NAME / beaconchain_head_gas_limit',
  scanned_epoch: 'beaconchain_finalized_epoch - NAME',
  slots_total: 'rate(NAME{status="missed"}[2h]) / on (chain) sum by (chain) (rate(NAME[2h]))',
  attester_slashings_total: 'sum by (chain) (increase(NAME[1d]))',
  watched_validators_slashed: 'NAME > 0',
  watched_proposals_total: 'sum by (chain) (increase(NAME{status=~"missed|orphaned"}[7d]))',
  watched_validator_missed_proposal_timestamp_seconds: 'time() - NAME < 86400',
  watched_sync_committee_duties_total:
    'increase(NAME{status="missed"}[1h]) / ignoring (status) sum without (status) (increase(NAME[1h]))',
  watched_validators_by_status: 'NAME > 0',
  watched_validators_offline: 'NAME > 0',
  watched_validators_duties: 'NAME{status="missed"}',
  watched_validators_epoch: 'beaconchain_head_epoch - NAME',
  sync_committee_end_timestamp_seconds: 'NAME - time()',
  watched_sync_committee_validators: 'sum by (chain, period) (NAME)',
  watched_sync_committee_validator: 'count by (chain, period) (NAME)',
  sync_committee_end_epoch: 'NAME - beaconchain_sync_committee_start_epoch',
  api_requests_total: 'sum(increase(NAME[1d]))',
  api_request_failures_total: 'sum by (reason) (increase(NAME[1h]))',
  api_request_duration_seconds: 'histogram_quantile(0.9, rate(NAME_bucket[1h]))',
  api_key_valid: 'NAME == 0',
  api_access_revoked: 'NAME == 1',
  ratelimit_remaining: 'NAME / beaconchain_ratelimit_limit',
  ratelimit_reset_timestamp_seconds: 'NAME - time()',
  budget_planned_requests_per_day: 'sum(NAME)',
  budget_stretch_ratio: 'NAME > 1',
  source_up: 'NAME == 0',
  source_next_attempt_timestamp_seconds: 'NAME - time()',
  source_quota_wait_end_timestamp_seconds: 'NAME - time() > 0',
  exporter_build_info: 'count by (version) (NAME)',
  exporter_config_last_reload_successful: 'NAME == 0',
  exporter_leader: 'sum by (job) (NAME)',
};

/** One expression that makes sense of a family. */
export function queryOf(name: string, type: MetricType): string {
  const query = QUERIES[name.replace(/^beaconchain_/, '')] ?? defaultQuery(name, type);
  return query.replaceAll('NAME', name);
}

function defaultQuery(name: string, type: MetricType): string {
  if (type === 'counter') return /_(bytes|seconds)_total$/.test(name) ? 'rate(NAME[15m])' : 'increase(NAME[1d])';
  return name.endsWith('_timestamp_seconds') ? 'time() - NAME' : 'NAME';
}
