import { beyond, CPU_BUSY, DISK_FULL, FEW_PEERS, LAGGING, MEMORY_FULL, PROCESS_SILENT, SILENT } from './limits.ts';
import { colorOf, GOOD, named } from './look.ts';
import {
  CPU_BUSY_NOW,
  DISK_FREE_RATIO,
  HEAD_LAG,
  MEMORY_USED_RATIO,
  ofMachine,
  processSilence,
  SILENCE,
} from './queries.ts';
import { threshold } from './rules.ts';

interface Trouble {
  readonly text: string;
  readonly alert: string;
  /** PromQL for the machines that have it, by chain and machine. */
  readonly machines: string;
}

const EACH_MACHINE = 'max by (chain, machine)';
const FORGOTTEN = threshold('process_forgotten_seconds');
const LOADED = ofMachine('beaconchain_machine_validators');

/** The worst first, as a machine can have several. */
const TROUBLES: readonly Trouble[] = [
  { text: 'silent', alert: SILENT.alert, machines: beyond(SILENCE, SILENT) },
  { text: 'disk almost full', alert: DISK_FULL.alert, machines: beyond(DISK_FREE_RATIO, DISK_FULL) },
  {
    text: 'no execution client',
    alert: 'ExecutionClientDisconnected',
    machines: `${ofMachine('beaconchain_machine_execution_connected')} == 0`,
  },
  { text: 'not synced', alert: 'BeaconNodeNotSynced', machines: `${ofMachine('beaconchain_machine_synced')} == 0` },
  {
    text: 'never seen',
    alert: 'MachineNeverSeen',
    machines: `${ofMachine('beaconchain_machine_last_seen_timestamp_seconds')} == 0`,
  },
  {
    text: 'process silent',
    alert: PROCESS_SILENT.alert,
    machines: `${EACH_MACHINE} (${beyond(processSilence('process=~"validator|node"'), PROCESS_SILENT)} < ${FORGOTTEN})`,
  },
  { text: 'behind the clock', alert: LAGGING.alert, machines: beyond(HEAD_LAG, LAGGING) },
  { text: 'few peers', alert: FEW_PEERS.alert, machines: beyond(ofMachine('beaconchain_machine_peers'), FEW_PEERS) },
  { text: 'memory almost full', alert: MEMORY_FULL.alert, machines: beyond(MEMORY_USED_RATIO, MEMORY_FULL) },
  { text: 'CPU busy', alert: CPU_BUSY.alert, machines: beyond(CPU_BUSY_NOW, CPU_BUSY) },
  {
    text: 'keys not active',
    alert: 'ValidatorsInactive',
    machines: `${LOADED} - ${ofMachine('beaconchain_machine_validators_active')} > 0 and ${LOADED} > 0`,
  },
  {
    text: 'on its fallback',
    alert: 'FallbackInUse',
    machines: `${ofMachine('beaconchain_machine_consensus_fallback_connected')} == 1 or ${ofMachine('beaconchain_machine_execution_fallback_connected')} == 1`,
  },
];

/** The higher the worse; 0 is well. */
function codeOf(index: number): number {
  return TROUBLES.length - index;
}

/** The worst trouble of each machine, a number that STATES names. As the alerts, but for how long it has to last. */
export const STATE = [
  ...TROUBLES.map(({ machines }, i) => `0 * (${machines}) + ${codeOf(i)}`),
  `0 * ${ofMachine('beaconchain_machine_last_seen_timestamp_seconds')}`,
].join(' or ');

export const STATES = named({
  0: { text: 'healthy', color: GOOD },
  ...Object.fromEntries(TROUBLES.map(({ text, alert }, i) => [codeOf(i), { text, color: colorOf(alert) }])),
});
