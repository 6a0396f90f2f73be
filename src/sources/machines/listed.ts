import type { UnixMs } from '../../lib/time.ts';
import { MACHINE_ALERTS, type MachineAlert, THRESHOLDS } from '../conditions.ts';
import type { Polls, Timing } from '../source.ts';
import { alertsOf } from './conditions.ts';
import type { MachinesOptions } from './options.ts';
import { type Machines, PROCESSES } from './schema.ts';
import { lastSeen, missing, type Shown, shownMachines } from './shown.ts';

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
  const neverSeen: readonly MachineAlert[] = polls.lastSuccessAt === undefined ? [] : ['MachineNeverSeen'];
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
