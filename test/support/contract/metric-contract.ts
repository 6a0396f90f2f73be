import type { MetricType } from '../../../src/toolkit/exposition/family.ts';

/** The public interface by family: name without prefix, type, labels. It changes only with a major version. */
export type Contract = readonly (readonly [name: string, type: MetricType, labels: readonly string[]])[];

const MACHINE = ['chain', 'machine'];
const PROCESS = ['chain', 'machine', 'process'];

export const MACHINES: Contract = [
  ['machine_last_seen_timestamp_seconds', 'gauge', PROCESS],
  ['machine_info', 'gauge', [...MACHINE, 'os', 'exporter_version']],
  ['machine_clock_ahead_seconds', 'gauge', MACHINE],
  ['machine_cpu_cores', 'gauge', MACHINE],
  ['machine_cpu_threads', 'gauge', MACHINE],
  ['machine_cpu_seconds_total', 'counter', MACHINE],
  ['machine_cpu_user_seconds_total', 'counter', MACHINE],
  ['machine_cpu_iowait_seconds_total', 'counter', MACHINE],
  ['machine_cpu_idle_seconds_total', 'counter', MACHINE],
  ['machine_memory_total_bytes', 'gauge', MACHINE],
  ['machine_memory_free_bytes', 'gauge', MACHINE],
  ['machine_memory_cached_bytes', 'gauge', MACHINE],
  ['machine_memory_buffers_bytes', 'gauge', MACHINE],
  ['machine_disk_total_bytes', 'gauge', MACHINE],
  ['machine_disk_free_bytes', 'gauge', MACHINE],
  ['machine_disk_io_seconds_total', 'counter', MACHINE],
  ['machine_disk_reads_total', 'counter', MACHINE],
  ['machine_disk_writes_total', 'counter', MACHINE],
  ['machine_network_receive_bytes_total', 'counter', MACHINE],
  ['machine_network_transmit_bytes_total', 'counter', MACHINE],
  ['machine_boot_time_seconds', 'gauge', MACHINE],
  ['machine_client_info', 'gauge', [...PROCESS, 'client_name', 'client_version', 'client_build', 'exporter_version']],
  ['machine_process_cpu_seconds_total', 'counter', PROCESS],
  ['machine_process_memory_bytes', 'gauge', PROCESS],
  ['machine_consensus_fallback_configured', 'gauge', PROCESS],
  ['machine_consensus_fallback_connected', 'gauge', PROCESS],
  ['machine_validators', 'gauge', MACHINE],
  ['machine_validators_active', 'gauge', MACHINE],
  ['machine_beacon_database_bytes', 'gauge', MACHINE],
  ['machine_libp2p_receive_bytes_total', 'counter', MACHINE],
  ['machine_libp2p_transmit_bytes_total', 'counter', MACHINE],
  ['machine_peers', 'gauge', MACHINE],
  ['machine_execution_connected', 'gauge', MACHINE],
  ['machine_synced', 'gauge', MACHINE],
  ['machine_head_slot', 'gauge', MACHINE],
  ['machine_chain_known', 'gauge', MACHINE],
  ['machine_name_shared', 'gauge', MACHINE],
  ['machine_execution_fallback_configured', 'gauge', MACHINE],
  ['machine_execution_fallback_connected', 'gauge', MACHINE],
  ['machines', 'gauge', ['chain']],
  ['machines_dropped', 'gauge', []],
];

export const DAILY_RETURNS: Contract = [
  ['daily_return_day', 'gauge', ['chain']],
  ['daily_return_start_timestamp_seconds', 'gauge', ['chain']],
  ['daily_return_end_timestamp_seconds', 'gauge', ['chain']],
  ['daily_return_effective_balance_ether', 'gauge', ['chain']],
  ['daily_return_start_balance_ether', 'gauge', ['chain']],
  ['daily_return_end_balance_ether', 'gauge', ['chain']],
  ['daily_return_deposits_ether', 'gauge', ['chain']],
  ['daily_return_rewards_ether', 'gauge', ['chain', 'layer']],
  ['daily_return_total_rewards_ether', 'gauge', ['chain']],
  ['daily_return_apr_ratio', 'gauge', ['chain', 'layer']],
  ['daily_return_combined_apr_ratio', 'gauge', ['chain']],
  ['daily_return_moving_average_apr_ratio', 'gauge', ['chain', 'window', 'layer']],
  ['daily_return_moving_average_combined_apr_ratio', 'gauge', ['chain', 'window']],
  ['daily_return_moving_average_rewards_ether', 'gauge', ['chain', 'window', 'layer']],
];

export const SLASHINGS: Contract = [
  ['genesis_timestamp_seconds', 'gauge', ['chain']],
  ['head_slot', 'gauge', ['chain']],
  ['head_epoch', 'gauge', ['chain']],
  ['head_sync_participation_ratio', 'gauge', ['chain']],
  ['head_base_fee_wei', 'gauge', ['chain']],
  ['head_gas_used', 'gauge', ['chain']],
  ['head_gas_limit', 'gauge', ['chain']],
  ['head_transactions', 'gauge', ['chain']],
  ['head_execution_block', 'gauge', ['chain']],
  ['finalized_epoch', 'gauge', ['chain']],
  ['scanned_epoch', 'gauge', ['chain']],
  ['skipped_epochs_total', 'counter', ['chain']],
  ['slots_total', 'counter', ['chain', 'status']],
  ['block_attestations_total', 'counter', ['chain']],
  ['block_deposits_total', 'counter', ['chain']],
  ['block_voluntary_exits_total', 'counter', ['chain']],
  ['block_withdrawals_total', 'counter', ['chain']],
  ['block_transactions_total', 'counter', ['chain']],
  ['block_gas_used_total', 'counter', ['chain']],
  ['attester_slashings_total', 'counter', ['chain', 'kind']],
  ['attester_slashed_validators_total', 'counter', ['chain']],
  ['proposer_slashings_total', 'counter', ['chain']],
  ['last_attester_slashing_timestamp_seconds', 'gauge', ['chain']],
  ['last_proposer_slashing_timestamp_seconds', 'gauge', ['chain']],
];

/** Only where validators are watched. */
export const WATCHED: Contract = [
  ['watched_validators', 'gauge', ['chain']],
  ['watched_validators_slashed', 'gauge', ['chain']],
  ['watched_validator_slashed_timestamp_seconds', 'gauge', ['chain', 'validator']],
  ['watched_validator_reported_slashed_timestamp_seconds', 'gauge', ['chain', 'validator']],
  ['watched_proposals_total', 'counter', ['chain', 'status']],
  ['watched_validator_missed_proposal_timestamp_seconds', 'gauge', ['chain', 'validator']],
  ['watched_sync_committee_duties_total', 'counter', ['chain', 'status']],
  ['watched_block_rewards_ether_total', 'counter', ['chain', 'kind']],
  ['watched_blocks_unread_total', 'counter', ['chain']],
  ['watched_validator_unexpected_fee_recipient_timestamp_seconds', 'gauge', ['chain', 'validator']],
];

export const VALIDATORS: Contract = [
  ['watched_validators_by_status', 'gauge', ['chain', 'status']],
  ['watched_validators_online', 'gauge', ['chain']],
  ['watched_validators_offline', 'gauge', ['chain']],
  ['watched_validator_offline_since_timestamp_seconds', 'gauge', ['chain', 'validator']],
  ['watched_validator_offline_epoch_timestamp_seconds', 'gauge', ['chain', 'validator']],
  ['watched_validator_exit_timestamp_seconds', 'gauge', ['chain', 'validator']],
  ['watched_validator_withdrawable_timestamp_seconds', 'gauge', ['chain', 'validator']],
  ['watched_validators_offline_effective_balance_ether', 'gauge', ['chain']],
  ['watched_validators_balance_ether', 'gauge', ['chain']],
  ['watched_validators_effective_balance_ether', 'gauge', ['chain']],
  ['watched_validators_epoch', 'gauge', ['chain']],
  ['watched_validators_epoch_timestamp_seconds', 'gauge', ['chain']],
  ['watched_validators_by_credentials', 'gauge', ['chain', 'type']],
  ['watched_validator_credentials_changed_timestamp_seconds', 'gauge', ['chain', 'validator', 'type']],
  ['watched_validators_score_ratio', 'gauge', ['chain', 'duty']],
  ['watched_validators_duties', 'gauge', ['chain', 'duty', 'status']],
  ['watched_validators_votes', 'gauge', ['chain', 'vote']],
  ['watched_validators_inclusion_delay_slots', 'gauge', ['chain']],
  ['watched_validators_inclusion_delay_excluding_missed_slots', 'gauge', ['chain']],
  ['watched_validators_rewards_ether', 'gauge', ['chain', 'duty']],
  ['watched_validators_execution_rewards_ether', 'gauge', ['chain']],
  ['watched_validators_penalties_ether', 'gauge', ['chain']],
  ['watched_validators_missed_rewards_ether', 'gauge', ['chain', 'duty']],
  ['watched_validators_missed_vote_rewards_ether', 'gauge', ['chain', 'vote']],
  ['watched_validators_inactivity_penalties_ether', 'gauge', ['chain']],
  ['watched_validators_rewards_epoch', 'gauge', ['chain']],
  ['watched_sync_committee_validators', 'gauge', ['chain', 'period']],
  ['watched_sync_committee_validator', 'gauge', ['chain', 'period', 'validator']],
  ['watched_attestations_total', 'counter', ['chain', 'status']],
  ['watched_correct_votes_total', 'counter', ['chain', 'vote']],
  ['watched_rewards_ether_total', 'counter', ['chain', 'duty']],
  ['watched_penalties_ether_total', 'counter', ['chain', 'duty']],
  ['watched_missed_rewards_ether_total', 'counter', ['chain', 'duty']],
  ['watched_validator_missed_attestations_total', 'counter', ['chain', 'validator']],
  ['watched_validator_rewards_ether_total', 'counter', ['chain', 'validator']],
  ['watched_validator_penalties_ether_total', 'counter', ['chain', 'validator']],
  ['watched_validator_recent_missed_attestations', 'gauge', ['chain', 'validator']],
  ['watched_unread_validator_epochs_total', 'counter', ['chain', 'part']],
  ['watched_counted_epoch', 'gauge', ['chain', 'part']],
  ['watched_skipped_epochs_total', 'counter', ['chain', 'part']],
];

export const SYNC_COMMITTEE: Contract = [
  ['sync_committee_period', 'gauge', ['chain']],
  ['sync_committee_start_epoch', 'gauge', ['chain']],
  ['sync_committee_end_epoch', 'gauge', ['chain']],
  ['sync_committee_start_timestamp_seconds', 'gauge', ['chain']],
  ['sync_committee_end_timestamp_seconds', 'gauge', ['chain']],
];

/** Only where validators are watched, or the network is read without them. */
export const NETWORK: Contract = [
  ['network_score_ratio', 'gauge', ['chain', 'duty']],
  ['network_duties', 'gauge', ['chain', 'duty', 'status']],
  ['network_votes', 'gauge', ['chain', 'vote']],
  ['network_inclusion_delay_slots', 'gauge', ['chain']],
  ['network_inclusion_delay_excluding_missed_slots', 'gauge', ['chain']],
  ['network_epoch', 'gauge', ['chain']],
  ['queue_validators', 'gauge', ['chain', 'queue']],
  ['queue_balance_ether', 'gauge', ['chain', 'queue']],
  ['queue_end_timestamp_seconds', 'gauge', ['chain', 'queue']],
];

const PER_WINDOW = ['bucket', 'window'];

export const API: Contract = [
  ['api_requests_total', 'counter', ['endpoint']],
  ['api_request_failures_total', 'counter', ['endpoint', 'reason']],
  ['api_invalid_records_total', 'counter', ['endpoint']],
  ['api_request_duration_seconds', 'histogram', ['endpoint']],
  ['api_key_valid', 'gauge', []],
  ['api_access_revoked', 'gauge', []],
  ['ratelimit_limit', 'gauge', PER_WINDOW],
  ['ratelimit_remaining', 'gauge', PER_WINDOW],
  ['ratelimit_reset_timestamp_seconds', 'gauge', ['bucket']],
  ['ratelimit_used_by_others', 'gauge', PER_WINDOW],
  ['budget_planned_requests_per_day', 'gauge', ['source']],
  ['budget_allowed_requests_per_day', 'gauge', ['bucket']],
  ['budget_stretch_ratio', 'gauge', ['source']],
  ['budget_wait_seconds_total', 'counter', []],
];

/** Series of the source `machines` have no label `chain`. */
const SOURCE = ['source', 'chain'];

export const SOURCES: Contract = [
  ['source_up', 'gauge', SOURCE],
  ['source_attempts_total', 'counter', SOURCE],
  ['source_failures_total', 'counter', SOURCE],
  ['source_last_attempt_timestamp_seconds', 'gauge', SOURCE],
  ['source_last_success_timestamp_seconds', 'gauge', SOURCE],
  ['source_next_attempt_timestamp_seconds', 'gauge', SOURCE],
  ['source_quota_wait_end_timestamp_seconds', 'gauge', SOURCE],
  ['source_interval_seconds', 'gauge', SOURCE],
  ['source_part_refused', 'gauge', [...SOURCE, 'part']],
  ['service_behind_seconds', 'gauge', SOURCE],
  ['source_duration_seconds', 'gauge', SOURCE],
];

export const EXPORTER: Contract = [
  ['exporter_build_info', 'gauge', ['version', 'revision', 'node_version']],
  ['exporter_config_last_reload_successful', 'gauge', []],
  ['exporter_config_last_reload_success_timestamp_seconds', 'gauge', []],
  ['exporter_state_write_failures_total', 'counter', []],
  ['exporter_leader', 'gauge', []],
  ['exporter_external_url_info', 'gauge', ['url']],
  ['exporter_clock_offset_seconds', 'gauge', []],
  ['exporter_log_lines_dropped_total', 'counter', []],
];

/** The families of the sources that an empty config file enables. */
export const BY_DEFAULT: Contract = [...MACHINES, ...DAILY_RETURNS, ...SLASHINGS, ...SYNC_COMMITTEE];

/** The families of all sources. */
export const OF_SOURCES: Contract = [...BY_DEFAULT, ...WATCHED, ...VALIDATORS, ...NETWORK];

/** All families with the exporter's own prefix. */
export const ALL_FAMILIES: Contract = [...OF_SOURCES, ...API, ...SOURCES, ...EXPORTER];
