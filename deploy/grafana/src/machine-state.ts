import { MACHINE_CONDITIONS, type MachineAlert } from '../../../src/sources/conditions.ts';
import { beyond, CPU_BUSY, DISK_FULL, FEW_PEERS, LAGGING, MEMORY_FULL, silentTooLong } from './limits.ts';
import { colorOf } from './look.ts';
import {
  cpuBusyByExporter,
  DISK_FREE_BY_EXPORTER,
  HEAD_LAG_BY_EXPORTER,
  MACHINE,
  MEMORY_USED_BY_EXPORTER,
  SILENCE_BY_EXPORTER,
  silentProcesses,
} from './queries.ts';
import { states } from './states.ts';

const BY_EXPORTER = 'max by (job, instance, chain, machine)';
const SEEN = of('last_seen_timestamp_seconds');
const LOADED = of('validators');
/** A machine with a current record has one of these: values that are too old are withdrawn. */
const CURRENT = ['info', 'client_info', 'memory_total_bytes', 'head_slot', 'validators'].map(of).join(' or ');
const RARE_SWEEPS = 'beaconchain_source_interval_seconds{source="machines"} > 300';

type Trouble =
  | { readonly alert: MachineAlert; readonly series: string }
  | { readonly alert: string; readonly series: string; readonly text: string };

/** The worst first, with the words of the status page. The alert gives its colour. */
const TROUBLES: readonly Trouble[] = [
  { alert: 'BeaconchainMachineOffline', series: silentTooLong(SILENCE_BY_EXPORTER) },
  { alert: 'BeaconchainBeaconNodeNotSynced', series: `${of('synced')} == 0` },
  { alert: 'BeaconchainExecutionClientDisconnected', series: `${of('execution_connected')} == 0` },
  { alert: 'BeaconchainDiskAlmostFull', series: beyond(DISK_FREE_BY_EXPORTER, DISK_FULL) },
  { alert: 'BeaconchainMachineNeverSeen', series: `${SEEN} == 0` },
  { alert: 'BeaconchainSourceFailing', text: 'out of date', series: `${SEEN} > 0 unless (${CURRENT})` },
  { alert: 'BeaconchainProcessSilent', series: silentProcesses('process=~"validator|node"') },
  { alert: 'BeaconchainMachineNameShared', series: `${of('name_shared')} == 1` },
  {
    alert: 'BeaconchainMemoryAlmostFull',
    text: 'memory almost full',
    series: beyond(MEMORY_USED_BY_EXPORTER, MEMORY_FULL),
  },
  { alert: 'BeaconchainBeaconNodeLagging', series: beyond(HEAD_LAG_BY_EXPORTER, LAGGING) },
  { alert: 'BeaconchainFewPeers', text: 'few peers', series: beyond(`${of('peers')} > 0`, FEW_PEERS) },
  {
    alert: 'BeaconchainCPUBusy',
    text: 'CPU busy',
    series: `${beyond(cpuBusyByExporter('15m'), CPU_BUSY)} or ${beyond(cpuBusyByExporter('6h'), CPU_BUSY)} and on (job, instance) ${RARE_SWEEPS}`,
  },
  { alert: 'BeaconchainValidatorsInactive', series: `${LOADED} - ${of('validators_active')} > 0 and ${LOADED} > 0` },
  {
    alert: 'BeaconchainFallbackInUse',
    text: 'on a fallback',
    series: `${of('consensus_fallback_connected')} == 1 or ${of('execution_fallback_connected')} == 1`,
  },
];

function of(metric: string): string {
  return `${BY_EXPORTER} (beaconchain_machine_${metric}{${MACHINE}})`;
}

/** The worst trouble of each machine. As the alerts, but without their delay and without forecasts. */
export const { expr: STATE, mappings: STATES } = states({
  troubles: TROUBLES.map((one) => ({
    text: 'text' in one ? one.text : MACHINE_CONDITIONS[one.alert].badge,
    series: one.series,
    color: colorOf(one.alert),
  })),
  all: SEEN,
  well: 'healthy',
  by: 'chain, machine',
});
