import { PROCESSES } from '../../api/answers/machines.ts';
import { MS_PER_MINUTE } from '../../toolkit/lib/duration.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import {
  type Comparison,
  MACHINE_ALERTS,
  MACHINE_CONDITIONS,
  type MachineAlert,
  type MachineValue,
  THRESHOLDS,
} from '../conditions.ts';
import type { Polls, Timing } from '../source.ts';
import { slotsBehind } from './learned.ts';
import type { MachinesOptions } from './options.ts';
import { lastSeen, type Machines } from './schema.ts';
import { missing, type ShownMachine, shownMachines } from './shown.ts';

/** Sweeps that are further apart than this can miss a machine that pushes. */
const RARE_SWEEPS_MS = 5 * MS_PER_MINUTE;

/** How much longer a machine may be silent, seconds: where sweeps are rare, two without a record are needed. */
function allowance({ intervalMs }: Pick<Polls, 'intervalMs'>): number {
  return intervalMs > RARE_SWEEPS_MS ? intervalMs / 1000 : 0;
}

/** The silence from which a machine counts as offline, seconds. */
export function offlineAfter(polls: Pick<Polls, 'intervalMs'>): number {
  return THRESHOLDS.machine_offline_seconds + allowance(polls);
}

/** The age of a record at the last successful poll. */
function ageOf(timestamp: number | undefined, { lastSuccessAt }: Polls): number {
  return timestamp === undefined || lastSuccessAt === undefined ? 0 : lastSuccessAt / 1000 - timestamp;
}

const VALUES: Readonly<Record<MachineValue, (one: ShownMachine, polls: Polls) => number | boolean | null | undefined>> =
  {
    silence: ({ seen }, polls) => ageOf(lastSeen(seen), polls) - allowance(polls),
    synced: ({ fresh }) => fresh.node?.sync_eth2_synced,
    execution_connected: ({ fresh }) => fresh.node?.sync_eth1_connected,
    disk_free: ({ fresh: { system } }) => {
      const { disk_node_bytes_free: free, disk_node_bytes_total: total } = system ?? {};
      return free != null && total ? free / total : undefined;
    },
    last_seen: ({ seen }) => lastSeen(seen),
    process_silence: ({ seen: { validator, node } }, polls) => {
      const ages = [validator, node].map((record) => ageOf(record?.timestamp, polls));
      return Math.max(...ages.filter((age) => age < THRESHOLDS.process_forgotten_seconds)) - allowance(polls);
    },
    name_shared: ({ isNameShared }) => isNameShared,
    head_lag: ({ labels, isChainKnown, fresh: { node } }) => {
      const { timestamp: at = 0, sync_beacon_head_slot: slot } = node ?? {};
      return isChainKnown && slot != null ? slotsBehind(labels.chain, { at, slot }) : undefined;
    },
    inactive_validators: ({ fresh: { validator } }) => {
      const { validator_total: all, validator_active: active } = validator ?? {};
      return all != null && active != null ? all - active : undefined;
    },
  };

/** As PromQL: a value that is not known does not compare. */
function applies({ value: name, is, than }: Comparison, one: ShownMachine, polls: Polls): boolean {
  const value = VALUES[name](one, polls);
  if (value == null) return false;
  const limit = typeof than === 'number' ? than : THRESHOLDS[than];
  if (is === '==') return Number(value) === limit;
  return is === '<' ? Number(value) < limit : Number(value) > limit;
}

/**
 * The groups of which several machines are silent, and none reports; undefined: those of no group. A machine that was dead
 * a day before the last one does not count.
 */
export function silentGroups(all: readonly ListedMachine[]): (string | undefined)[] {
  const seen = all.flatMap(({ shown, alerts }) =>
    shown ? [{ group: shown.labels.group, at: lastSeen(shown.seen), alerts }] : [],
  );
  return [...Map.groupBy(seen, ({ group }) => group)].flatMap(([group, members]) => {
    const newest = Math.max(...members.map(({ at }) => at));
    const together = members.filter(({ at }) => newest - at <= THRESHOLDS.silent_together_seconds);
    const areAllSilent = members.every(({ alerts }) => alerts.includes('BeaconchainMachineOffline'));
    return together.length > 1 && areAllSilent ? [group] : [];
  });
}

/** The alerts that apply to a machine, the worst first. All processes of a silent one are silent. */
function alertsOf(one: ShownMachine, polls: Polls): MachineAlert[] {
  const alerts = MACHINE_ALERTS.filter((alert) => applies(MACHINE_CONDITIONS[alert], one, polls));
  return alerts.includes('BeaconchainMachineOffline')
    ? alerts.filter((alert) => alert !== 'BeaconchainProcessSilent')
    : alerts;
}

export interface ListedMachine {
  readonly name: string;
  /** The alerts that apply to it, the worst first. */
  readonly alerts: readonly MachineAlert[];
  /** Undefined if it was never seen. */
  readonly shown: ShownMachine | undefined;
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
function isFresh({ shown }: ListedMachine): boolean {
  if (!shown) return false;
  const { seen, fresh } = shown;
  const newest = lastSeen(seen);
  return PROCESSES.every((process) => {
    const age = newest - (seen[process]?.timestamp ?? newest);
    return !seen[process] || fresh[process] || age > THRESHOLDS.process_forgotten_seconds;
  });
}
