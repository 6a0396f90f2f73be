import { beyond, CPU_BUSY, DISK_FULL, FEW_PEERS, LAGGING, MEMORY_FULL, silentTooLong } from './limits.ts';
import { colorOf, GOOD, named } from './look.ts';
import {
  cpuBusyByExporter,
  DISK_FREE_BY_EXPORTER,
  HEAD_LAG_BY_EXPORTER,
  MACHINE,
  MEMORY_USED_BY_EXPORTER,
  processSilenceByExporter,
  SILENCE_BY_EXPORTER,
} from './queries.ts';
import { threshold } from './rules.ts';

interface Trouble {
  readonly text: string;
  readonly alert: string;
  /** PromQL for the machines that have it, as each exporter sees them. */
  readonly machines: string;
}

const BY_EXPORTER = 'max by (job, instance, chain, machine)';
const SEEN = of('last_seen_timestamp_seconds');
const LOADED = of('validators');
/** A machine with a current record has one of these: values that are too old are withdrawn. */
const CURRENT = ['info', 'client_info', 'memory_total_bytes', 'head_slot', 'validators'].map(of).join(' or ');
const RARE_SWEEPS = 'beaconchain_source_interval_seconds{source="machines"} > 300';

/** The worst first, as a machine can have several. */
const TROUBLES: readonly Trouble[] = [
  { text: 'silent', alert: 'MachineOffline', machines: silentTooLong(SILENCE_BY_EXPORTER) },
  { text: 'disk almost full', alert: DISK_FULL.alert, machines: beyond(DISK_FREE_BY_EXPORTER, DISK_FULL) },
  {
    text: 'no execution client',
    alert: 'ExecutionClientDisconnected',
    machines: `${of('execution_connected')} == 0`,
  },
  { text: 'not synced', alert: 'BeaconNodeNotSynced', machines: `${of('synced')} == 0` },
  { text: 'never seen', alert: 'MachineNeverSeen', machines: `${SEEN} == 0` },
  { text: 'no current data', alert: 'SourceFailing', machines: `${SEEN} > 0 unless (${CURRENT})` },
  {
    text: 'process silent',
    alert: 'ProcessSilent',
    machines: `${silentTooLong(processSilenceByExporter('process=~"validator|node"'))} < ${threshold('process_forgotten_seconds')}`,
  },
  { text: 'behind the clock', alert: LAGGING.alert, machines: beyond(HEAD_LAG_BY_EXPORTER, LAGGING) },
  { text: 'few peers', alert: FEW_PEERS.alert, machines: beyond(of('peers'), FEW_PEERS) },
  { text: 'memory almost full', alert: MEMORY_FULL.alert, machines: beyond(MEMORY_USED_BY_EXPORTER, MEMORY_FULL) },
  {
    text: 'CPU busy',
    alert: CPU_BUSY.alert,
    machines: `${beyond(cpuBusyByExporter('15m'), CPU_BUSY)} or ${beyond(cpuBusyByExporter('6h'), CPU_BUSY)} and on (job, instance) ${RARE_SWEEPS}`,
  },
  {
    text: 'keys not active',
    alert: 'ValidatorsInactive',
    machines: `${LOADED} - ${of('validators_active')} > 0 and ${LOADED} > 0`,
  },
  {
    text: 'on its fallback',
    alert: 'FallbackInUse',
    machines: `${of('consensus_fallback_connected')} == 1 or ${of('execution_fallback_connected')} == 1`,
  },
];

function of(metric: string): string {
  return `${BY_EXPORTER} (beaconchain_machine_${metric}{${MACHINE}})`;
}

/** The higher the worse; 0 is healthy. */
function codeOf(index: number): number {
  return TROUBLES.length - index;
}

/**
 * The worst trouble of each machine, a number that STATES names. As the alerts, but for how long it has to last, and
 * without forecasts. Of several exporters that report the machine, the worse trouble counts.
 */
export const STATE = `max by (chain, machine) (${[
  ...TROUBLES.map(({ machines }, i) => `${BY_EXPORTER} (0 * (${machines}) + ${codeOf(i)})`),
  `0 * ${SEEN}`,
].join(' or ')})`;

export const STATES = named({
  0: { text: 'healthy', color: GOOD },
  ...Object.fromEntries(TROUBLES.map(({ text, alert }, i) => [codeOf(i), { text, color: colorOf(alert) }])),
});
