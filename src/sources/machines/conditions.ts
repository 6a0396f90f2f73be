import { PROCESSES } from '../../api/answers/machines.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { MACHINE_ALERTS, type MachineAlert, THRESHOLDS } from '../conditions.ts';
import type { Polls, Timing } from '../source.ts';
import { slotsBehind } from './learned.ts';
import type { MachinesOptions } from './options.ts';
import { lastSeen, type Machine, type Machines } from './schema.ts';
import { missing, type Shown, shownMachines } from './shown.ts';

/** The share of the disk that is free; undefined where it is not known. */
function diskFree({ system }: Partial<Machine>): number | undefined {
  const { disk_node_bytes_free: free, disk_node_bytes_total: total } = system ?? {};
  return free != null && total ? free / total : undefined;
}

/** Sweeps that are further apart than this can miss a machine that pushes. */
const RARE_SWEEPS_SECONDS = 300;

/** The silence from which a machine counts as offline, seconds. */
export function offlineAfter({ intervalMs }: Pick<Polls, 'intervalMs'>): number {
  const interval = intervalMs / 1000;
  return THRESHOLDS.machine_offline_seconds + (interval > RARE_SWEEPS_SECONDS ? interval : 0);
}

/** The age of a record at the last successful poll. */
function silence(timestamp: number | undefined, { lastSuccessAt }: Polls): number {
  return timestamp === undefined || lastSuccessAt === undefined ? 0 : lastSuccessAt / 1000 - timestamp;
}

const CHECKS: Readonly<
  Record<Exclude<MachineAlert, 'BeaconchainMachineNeverSeen'>, (one: Shown, polls: Polls) => boolean>
> = {
  BeaconchainMachineOffline: isOffline,
  BeaconchainBeaconNodeNotSynced: ({ fresh }) => fresh.node?.sync_eth2_synced === false,
  BeaconchainExecutionClientDisconnected: ({ fresh }) => fresh.node?.sync_eth1_connected === false,
  BeaconchainDiskAlmostFull: ({ fresh }) => (diskFree(fresh) ?? 1) < THRESHOLDS.disk_free_ratio,
  BeaconchainProcessSilent: (one, polls) =>
    !isOffline(one, polls) &&
    [one.seen.validator, one.seen.node].some((record) => {
      const seconds = silence(record?.timestamp, polls);
      return seconds > offlineAfter(polls) && seconds < THRESHOLDS.process_forgotten_seconds;
    }),
  BeaconchainMachineNameShared: ({ isNameShared }) => isNameShared,
  BeaconchainBeaconNodeLagging: ({ labels, isChainKnown, fresh: { node } }) => {
    const { timestamp: at = 0, sync_beacon_head_slot: slot } = node ?? {};
    return isChainKnown && slot != null && slotsBehind(labels.chain, { at, slot }) > THRESHOLDS.head_lag_slots;
  },
  BeaconchainValidatorsInactive: ({ fresh: { validator } }) => {
    const { validator_total: all, validator_active: active } = validator ?? {};
    return all != null && active != null && all > active;
  },
};

function isOffline({ seen }: Shown, polls: Polls): boolean {
  return silence(lastSeen(seen), polls) > offlineAfter(polls);
}

/** Whether several machines are silent, and none reports. One that was dead a day before the last one does not count. */
export function areAllSilent(all: readonly ListedMachine[]): boolean {
  const seen = all.flatMap(({ shown, alerts }) => (shown ? [{ at: lastSeen(shown.seen), alerts }] : []));
  const newest = Math.max(...seen.map(({ at }) => at));
  const together = seen.filter(({ at }) => newest - at <= THRESHOLDS.silent_together_seconds);
  return together.length > 1 && seen.every(({ alerts }) => alerts.includes('BeaconchainMachineOffline'));
}

/** The alerts that apply to a machine, the worst first. */
function alertsOf(one: Shown, polls: Polls): MachineAlert[] {
  return MACHINE_ALERTS.filter((alert) => alert !== 'BeaconchainMachineNeverSeen' && CHECKS[alert](one, polls));
}

/** A machine as shown in the status. */
export interface ListedMachine {
  readonly name: string;
  /** The alerts that apply to it, the worst first. */
  readonly alerts: readonly MachineAlert[];
  /** Undefined if it was never seen. */
  readonly shown: Shown | undefined;
}

/** Every machine, the worst first. */
export function listedMachines(
  options: MachinesOptions,
  { machines }: Machines,
  timing: Timing,
  polls: Polls,
): ListedMachine[] {
  const shown = shownMachines(options, machines, timing);
  const neverSeen: readonly MachineAlert[] = polls.lastSuccessAt === undefined ? [] : ['BeaconchainMachineNeverSeen'];
  return [
    ...missing(options, shown).map((name): ListedMachine => ({ name, alerts: neverSeen, shown: undefined })),
    ...shown.map((one): ListedMachine => ({ name: one.labels.machine, alerts: alertsOf(one, polls), shown: one })),
  ].sort((a, b) => rankOf(a) - rankOf(b));
}

function rankOf(machine: ListedMachine): number {
  const [worst] = machine.alerts;
  if (worst) return MACHINE_ALERTS.indexOf(worst);
  return isFresh(machine) ? MACHINE_ALERTS.length + 1 : MACHINE_ALERTS.length;
}

/** Whether all values that the machine reports are shown, and one of them is recent. */
export function isRecent(machine: ListedMachine, now: UnixMs): boolean {
  const newest = machine.shown ? lastSeen(machine.shown.seen) : 0;
  return isFresh(machine) && now - newest * 1000 <= THRESHOLDS.machine_offline_seconds * 1000;
}

/** Whether all values that the machine reports are shown. A process that was removed a week ago is ignored. */
export function isFresh({ shown }: ListedMachine): boolean {
  if (!shown) return false;
  const { seen, fresh } = shown;
  const newest = lastSeen(seen);
  return PROCESSES.every((process) => {
    const age = newest - (seen[process]?.timestamp ?? newest);
    return !seen[process] || fresh[process] || age > THRESHOLDS.process_forgotten_seconds;
  });
}
