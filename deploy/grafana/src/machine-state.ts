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

/** The alert gives its colour. */
const TROUBLES: readonly { readonly text: string; readonly alert: string; readonly series: string }[] = [
  { text: 'silent', alert: 'BeaconchainMachineOffline', series: silentTooLong(SILENCE_BY_EXPORTER) },
  { text: 'disk almost full', alert: DISK_FULL.alert, series: beyond(DISK_FREE_BY_EXPORTER, DISK_FULL) },
  {
    text: 'no execution client',
    alert: 'BeaconchainExecutionClientDisconnected',
    series: `${of('execution_connected')} == 0`,
  },
  { text: 'not synced', alert: 'BeaconchainBeaconNodeNotSynced', series: `${of('synced')} == 0` },
  { text: 'never seen', alert: 'BeaconchainMachineNeverSeen', series: `${SEEN} == 0` },
  { text: 'no current data', alert: 'BeaconchainSourceFailing', series: `${SEEN} > 0 unless (${CURRENT})` },
  {
    text: 'process silent',
    alert: 'BeaconchainProcessSilent',
    series: silentProcesses('process=~"validator|node"'),
  },
  { text: 'behind the clock', alert: LAGGING.alert, series: beyond(HEAD_LAG_BY_EXPORTER, LAGGING) },
  { text: 'few peers', alert: FEW_PEERS.alert, series: beyond(of('peers'), FEW_PEERS) },
  { text: 'memory almost full', alert: MEMORY_FULL.alert, series: beyond(MEMORY_USED_BY_EXPORTER, MEMORY_FULL) },
  {
    text: 'CPU busy',
    alert: CPU_BUSY.alert,
    series: `${beyond(cpuBusyByExporter('15m'), CPU_BUSY)} or ${beyond(cpuBusyByExporter('6h'), CPU_BUSY)} and on (job, instance) ${RARE_SWEEPS}`,
  },
  {
    text: 'keys not active',
    alert: 'BeaconchainValidatorsInactive',
    series: `${LOADED} - ${of('validators_active')} > 0 and ${LOADED} > 0`,
  },
  {
    text: 'on its fallback',
    alert: 'BeaconchainFallbackInUse',
    series: `${of('consensus_fallback_connected')} == 1 or ${of('execution_fallback_connected')} == 1`,
  },
];

function of(metric: string): string {
  return `${BY_EXPORTER} (beaconchain_machine_${metric}{${MACHINE}})`;
}

const { expr, mappings } = states({
  troubles: TROUBLES.map(({ alert, ...trouble }) => ({ ...trouble, color: colorOf(alert) })),
  all: SEEN,
  well: 'healthy',
  by: 'chain, machine',
});

/** The worst trouble of each machine. As the alerts, but for how long it has to last, and without forecasts. */
export const STATE = expr;
export const STATES = mappings;
