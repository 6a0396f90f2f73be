import { MACHINE_CONDITIONS, type MachineAlert, type MachineValue } from '../../../src/sources/conditions.ts';
import { beyond, CPU_BUSY, FEW_PEERS, MEMORY_FULL, silenceBeyondInterval } from './limits.ts';
import { colorOf } from './look.ts';
import {
  cpuBusyByExporter,
  DISK_FREE_BY_EXPORTER,
  HEAD_LAG_BY_EXPORTER,
  MACHINE,
  MEMORY_USED_BY_EXPORTER,
  processSilenceOfRemaining,
  SILENCE_BY_EXPORTER,
  UNSYNCED_LAG_BY_EXPORTER,
} from './queries.ts';
import { threshold } from './rules.ts';
import { states } from './states.ts';

const BY_EXPORTER = 'max by (job, instance, chain, machine)';
const SEEN = of('last_seen_timestamp_seconds');
const LOADED = of('validators');
/** A machine with a current record has one of these: values that are too old are withdrawn. */
const CURRENT = ['info', 'client_info', 'memory_total_bytes', 'head_slot', 'validators'].map(of).join(' or ');
const RARE_SWEEPS = 'beaconchain_source_interval_seconds{source="machines"} > 300';

/** What the conditions compare, for each exporter. */
const SERIES: Readonly<Record<MachineValue, string>> = {
  silence: silenceBeyondInterval(SILENCE_BY_EXPORTER),
  unsynced_lag: UNSYNCED_LAG_BY_EXPORTER,
  execution_connected: of('execution_connected'),
  disk_free: DISK_FREE_BY_EXPORTER,
  last_seen: SEEN,
  process_silence: silenceBeyondInterval(processSilenceOfRemaining('process=~"validator|node"')),
  name_shared: of('name_shared'),
  clock_ahead: of('clock_ahead_seconds'),
  head_lag: HEAD_LAG_BY_EXPORTER,
  inactive_validators: `${LOADED} - ${of('validators_active')} and ${LOADED} > 0`,
};

interface Trouble {
  readonly alert: string;
  readonly text: string;
  readonly series: string;
}

/** A condition of the status page, with its words. */
function shared(alert: MachineAlert): Trouble {
  const { value, is, than, badge } = MACHINE_CONDITIONS[alert];
  const limit = typeof than === 'number' ? than : threshold(than);
  return { alert, text: badge, series: `(${SERIES[value]}) ${is} ${limit}` };
}

/** The worst first. The alert gives its colour. */
const TROUBLES: readonly Trouble[] = [
  shared('BeaconchainMachineOffline'),
  shared('BeaconchainBeaconNodeNotSynced'),
  shared('BeaconchainExecutionClientDisconnected'),
  shared('BeaconchainDiskAlmostFull'),
  shared('BeaconchainMachineNeverSeen'),
  { alert: 'BeaconchainSourceFailing', text: 'out of date', series: `${SEEN} > 0 unless (${CURRENT})` },
  shared('BeaconchainProcessSilent'),
  shared('BeaconchainMachineNameShared'),
  shared('BeaconchainMachineClockWrong'),
  {
    alert: 'BeaconchainMemoryAlmostFull',
    text: 'memory almost full',
    series: beyond(MEMORY_USED_BY_EXPORTER, MEMORY_FULL),
  },
  shared('BeaconchainBeaconNodeLagging'),
  { alert: 'BeaconchainFewPeers', text: 'few peers', series: beyond(`${of('peers')} > 0`, FEW_PEERS) },
  {
    alert: 'BeaconchainCPUBusy',
    text: 'CPU busy',
    series: `${beyond(cpuBusyByExporter('15m'), CPU_BUSY)} or ${beyond(cpuBusyByExporter('6h'), CPU_BUSY)} and on (job, instance) ${RARE_SWEEPS}`,
  },
  shared('BeaconchainValidatorsInactive'),
];

function of(metric: string): string {
  return `${BY_EXPORTER} (beaconchain_machine_${metric}{${MACHINE}})`;
}

/** The worst trouble of each machine. As the alerts, but without their delay and without forecasts. */
export const { expr: STATE, mappings: STATES } = states({
  troubles: TROUBLES.map(({ alert, ...one }) => ({ ...one, color: colorOf(alert) })),
  all: SEEN,
  well: 'healthy',
  by: 'chain, machine',
});
