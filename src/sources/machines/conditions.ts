import { PROCESSES } from '../../api/answers/machines.ts';
import { MS_PER_MINUTE } from '../../toolkit/lib/duration.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { MACHINE_ALERTS, MACHINE_CONDITIONS, type MachineAlert, type MachineValue, THRESHOLDS } from '../conditions.ts';
import type { Timing } from '../read.ts';
import type { Detection, Polls } from '../source.ts';
import { staleAfter } from './config.ts';
import { secondsAhead, slotsBehind } from './learned.ts';
import { JITTER, type MachinesOptions } from './options.ts';
import { type ShownMachine, shownMachines } from './shown.ts';
import { lastSeen, type Machines } from './state.ts';

/** Sweeps further apart than this can miss a machine that pushes. */
const RARE_SWEEPS_MS = 5 * MS_PER_MINUTE;

/** How many more seconds a machine may be silent: if sweeps are rare, two must find no record. */
function allowance({ intervalMs }: Pick<Polls, 'intervalMs'>): number {
  return intervalMs > RARE_SWEEPS_MS ? intervalMs / 1000 : 0;
}

/** A machine pushes once a minute, and a record can get lost. */
const LATE_SECONDS = 180;

/** The seconds of silence from which a machine counts as offline. */
export function offlineAfter(polls: Pick<Polls, 'intervalMs'>): number {
  return THRESHOLDS.machine_offline_seconds + allowance(polls);
}

/** The worst case: a sweep finds the machine silent for almost long enough, so only the next sweep finds it offline. */
export function detectionsOf(options: MachinesOptions, timing: Timing): Detection[] {
  const sweepMs = (1 + JITTER) * timing.intervalMs;
  const offlineMs = offlineAfter(timing) * 1000 + sweepMs;
  const silentMs = options.forgetAfterMs <= offlineMs ? 'never: machines.forget_after' : offlineMs;
  const isWithdrawn = staleAfter(options, timing) < timing.intervalMs + MS_PER_MINUTE;
  const diskMs = isWithdrawn ? 'in part: machines.stale_after withdraws values between polls' : MS_PER_MINUTE + sweepMs;
  return [
    ['BeaconchainMachineOffline', 'a machine is silent', silentMs],
    ['BeaconchainDiskAlmostFull', 'a disk is almost full', diskMs],
  ];
}

/** The age of a record at the last successful poll. */
function ageOf(timestamp: number | undefined, { lastSuccessAt }: Polls): number {
  return timestamp === undefined || lastSuccessAt === undefined ? 0 : lastSuccessAt / 1000 - timestamp;
}

const VALUES: Readonly<Record<MachineValue, (one: ShownMachine, polls: Polls) => number | boolean | null | undefined>> =
  {
    silence: ({ seen }, polls) => ageOf(lastSeen(seen) || undefined, polls) - allowance(polls),
    unsynced_lag: (one, polls) =>
      one.isChainKnown && one.fresh.node?.sync_eth2_synced === false && (VALUES.head_lag(one, polls) ?? 1e9),
    execution_connected: ({ fresh }) => fresh.node?.sync_eth1_connected,
    disk_free: ({ fresh: { system } }) => {
      const { disk_node_bytes_free: free, disk_node_bytes_total: total } = system ?? {};
      return free != null && total ? free / total : undefined;
    },
    last_seen: ({ seen }, { lastSuccessAt }) => (lastSuccessAt === undefined ? undefined : lastSeen(seen)),
    process_silence: ({ seen: { validator, node } }, polls) => {
      const ages = [validator, node].map((record) => ageOf(record?.timestamp, polls));
      return Math.max(...ages.filter((age) => age < THRESHOLDS.process_forgotten_seconds)) - allowance(polls);
    },
    name_shared: ({ isNameShared }) => isNameShared,
    clock_ahead: ({ fresh }) => secondsAhead(fresh),
    head_lag: ({ labels, isChainKnown, fresh: { node } }) => {
      const { timestamp: at = 0, sync_beacon_head_slot: slot } = node ?? {};
      return isChainKnown && slot != null ? slotsBehind(labels.chain, { at, slot }) : undefined;
    },
    inactive_validators: ({ fresh: { validator } }) => {
      const { validator_total: all, validator_active: active } = validator ?? {};
      return all != null && active != null ? all - active : undefined;
    },
  };

/** As in PromQL, an unknown value never applies. */
function applies(alert: MachineAlert, one: ShownMachine, polls: Polls): boolean {
  const { value: name, is, than } = MACHINE_CONDITIONS[alert];
  const value = VALUES[name](one, polls);
  if (value == null) return false;
  const limit = typeof than === 'number' ? than : THRESHOLDS[than];
  if (is === '==') return Number(value) === limit;
  return is === '<' ? Number(value) < limit : Number(value) > limit;
}

/**
 * The groups in which several machines are silent and none reports; undefined stands for machines of no group. Ignores a machine that
 * became silent more than a day before the last one.
 */
export function silentGroups(all: readonly ListedMachine[]): (string | undefined)[] {
  const seen = all.filter((one) => lastSeen(one.seen) > 0);
  return [...Map.groupBy(seen, ({ labels }) => labels.group)].flatMap(([group, members]) => {
    const newest = Math.max(...members.map((one) => lastSeen(one.seen)));
    const together = members.filter((one) => newest - lastSeen(one.seen) <= THRESHOLDS.silent_together_seconds);
    const areAllSilent = members.every(({ alerts }) => alerts.includes('BeaconchainMachineOffline'));
    return together.length > 1 && areAllSilent ? [group] : [];
  });
}

/** The alerts that apply to a machine, the worst first. A silent machine needs no alert on its processes. */
function alertsOf(one: ShownMachine, polls: Polls): MachineAlert[] {
  const alerts = MACHINE_ALERTS.filter((alert) => applies(alert, one, polls));
  const isSilent = alerts.includes('BeaconchainMachineOffline');
  return alerts.filter((alert) => !isSilent || alert !== 'BeaconchainProcessSilent');
}

export interface ListedMachine extends ShownMachine {
  readonly alerts: readonly MachineAlert[];
  /** Silent for some minutes, not long enough for an alert. */
  readonly isLate: boolean;
}

/** Every machine, the worst first. */
export function listedMachines(
  options: MachinesOptions,
  value: Machines,
  timing: Timing,
  polls: Polls,
): ListedMachine[] {
  return shownMachines(options, value, timing)
    .map((one) => {
      const isLate = Number(VALUES.silence(one, polls)) > LATE_SECONDS;
      return { ...one, alerts: alertsOf(one, polls), isLate };
    })
    .sort((a, b) => rankOf(a) - rankOf(b));
}

function rankOf(machine: ListedMachine): number {
  const [worst] = machine.alerts;
  if (worst) return MACHINE_ALERTS.indexOf(worst);
  return MACHINE_ALERTS.length + Number(isFresh(machine) && !machine.isLate);
}

/** Whether all values of the machine are shown, and one is recent. */
export function isRecent(machine: ListedMachine, now: UnixMs): boolean {
  return isFresh(machine) && now - lastSeen(machine.seen) * 1000 <= THRESHOLDS.machine_offline_seconds * 1000;
}

/** Whether all values of the machine are shown, without a process that is silent for a week more. */
function isFresh({ seen, fresh }: ListedMachine): boolean {
  const newest = lastSeen(seen);
  return PROCESSES.every((process) => {
    const age = newest - (seen[process]?.timestamp ?? 0);
    return fresh[process] || age > THRESHOLDS.process_forgotten_seconds;
  });
}
