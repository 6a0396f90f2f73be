import { threshold } from './rules.ts';

/** Where an alert begins. */
export interface Limit {
  /** The name of the alert, whose severity is the colour. */
  readonly alert: string;
  readonly bad: '>' | '<';
  /** PromQL, a scalar. */
  readonly than: string;
}

function above(alert: string, than: string): Limit {
  return { alert, bad: '>', than };
}

function below(alert: string, than: string): Limit {
  return { alert, bad: '<', than };
}

/**
 * If sweeps are rare, a silent machine is noticed an interval later, as in beaconchain:machine_offline_after_seconds.
 * With several exporters, the line in a chart is that of the longest interval.
 */
const INTERVAL = 'beaconchain_source_interval_seconds{source="machines"}';
const OFFLINE_AFTER = `(${threshold('machine_offline_seconds')} + scalar(max(${INTERVAL} > 300) or vector(0)))`;

export const SILENT = above('BeaconchainMachineOffline', OFFLINE_AFTER);
export const PROCESS_SILENT = above('BeaconchainProcessSilent', OFFLINE_AFTER);
export const CPU_BUSY = above('BeaconchainCPUBusy', threshold('cpu_busy_ratio'));
export const MEMORY_FULL = above('BeaconchainMemoryAlmostFull', threshold('memory_used_ratio'));
export const DISK_FULL = below('BeaconchainDiskAlmostFull', threshold('disk_free_ratio'));
export const FEW_PEERS = below('BeaconchainFewPeers', threshold('peers'));
export const LAGGING = above('BeaconchainBeaconNodeLagging', threshold('head_lag_slots'));

export const NO_FINALITY = above('BeaconchainNoFinality', threshold('finality_lag_epochs'));
export const LOW_PARTICIPATION = below('BeaconchainSyncParticipationLow', threshold('sync_participation_ratio'));
export const MISSED_SLOTS = above('BeaconchainManyMissedSlots', threshold('missed_slots_ratio'));
export const MASS_SLASHING = above('BeaconchainMassSlashing', threshold('mass_slashing_validators'));
export const SCAN_LAGGING = above('BeaconchainSlashingScanLagging', threshold('scan_lag_epochs'));

export const RETURN_LATE = above('BeaconchainDailyReturnLate', `(86400 + ${threshold('daily_return_late_seconds')})`);
export const RETURN_DROPPED = below('BeaconchainDailyReturnDropped', threshold('daily_return_drop_ratio'));

export const STRETCHED = above('BeaconchainBudgetStretched', threshold('stretch_ratio'));
export const INVALID_RECORDS = above('BeaconchainInvalidRecords', threshold('invalid_records'));
export const SOURCE_STALE = above('BeaconchainSourceStale', threshold('source_stale_seconds'));

/** Silence without the interval that rare sweeps add, for each exporter by its own. */
export function silenceBeyondInterval(silenceByExporter: string): string {
  return `(${silenceByExporter}) - on (job, instance) group_left () ((${INTERVAL} > bool 300) * ${INTERVAL})`;
}

/** The machines or processes that are silent for too long. */
export function silentTooLong(silenceByExporter: string): string {
  return `(${silenceBeyondInterval(silenceByExporter)}) > ${threshold('machine_offline_seconds')}`;
}

/** The series beyond the limit. */
export function beyond(expr: string, { bad, than }: Limit): string {
  return `(${expr}) ${bad} ${than}`;
}

/** A query split in two, so that each part can have a colour. */
export interface Parts {
  readonly within: string;
  readonly beyond: string;
}

const OPPOSITE = { '>': '<=', '<': '>=' } as const;

export function split(expr: string, limit: Limit): Parts {
  return { within: `(${expr}) ${OPPOSITE[limit.bad]} ${limit.than}`, beyond: beyond(expr, limit) };
}

/**
 * The same for a range: each whole series is in one part, by its value at the end. A series without a value there is in
 * neither.
 */
export function splitAtEnd(expr: string, { bad, than }: Limit): Parts {
  const part = (comparison: string): string => `(${expr}) and (${atEnd(`(${expr}) ${comparison} bool ${than}`)} == 1)`;
  return { within: part(OPPOSITE[bad]), beyond: part(bad) };
}

/** Without the series that end before the range does: their last value is too old to be shown. */
export function withValueAtEnd(expr: string): string {
  return `(${expr}) and ${atEnd(expr)}`;
}

function atEnd(expr: string): string {
  return `last_over_time((${expr})[1m:1s] @ end())`;
}
