import type { Chain } from '../facts/chain.ts';
import { MS_PER_HOUR, MS_PER_MINUTE, SECONDS_PER_DAY } from '../toolkit/lib/duration.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import { createMachine, PROFILES, type ProcessName, type Push, type SimulatedMachine } from './machines-records.ts';

export const PROCESSES = ['system', 'validator', 'node'] as const satisfies readonly ProcessName[];

/** The processes of a machine push one after the other. */
const DELAY: Record<ProcessName, Milliseconds> = { system: 0, validator: 40, node: 85 };
/** Older records are deleted (api-facts 2). */
export const RETENTION_SECONDS = 31 * SECONDS_PER_DAY;

/**
 * All machines of the account, and for each process the machines that run it, in the order of their records within a
 * minute.
 */
export interface Fleet {
  readonly machines: ReadonlyMap<string, SimulatedMachine>;
  readonly rings: Readonly<Record<ProcessName, readonly SimulatedMachine[]>>;
}

/** Silent since 5 h before the start, until `wake`. */
export const QUIET_MACHINE = 'quiet-1';
const NAMED: readonly (readonly [string, Chain, keyof typeof PROFILES])[] = [
  ['node-a', 'mainnet', 'lighthouse'],
  ['node-b', 'mainnet', 'teku'],
  ['node-c', 'mainnet', 'nimbus'],
  ['hoodi-1', 'hoodi', 'lodestar'],
  [QUIET_MACHINE, 'mainnet', 'lighthouse'],
];
export const NAMED_MACHINES = NAMED.length;

/** The named machines, then machine-0001 and so on: `count` in all. */
export function createFleet(seed: string, count: number, start: UnixMs): Fleet {
  const profiles = Object.values(PROFILES);
  const machines = Array.from({ length: count }, (_, i) => {
    const [name, chain, profile] = NAMED[i] ?? [`machine-${String(i + 1 - NAMED.length).padStart(4, '0')}`, 'mainnet'];
    const chosen = (profile ? PROFILES[profile] : profiles[i % profiles.length]) ?? PROFILES.lighthouse;
    return createMachine(name, chain, chosen, seed);
  });
  const quiet = machines.find((machine) => machine.name === QUIET_MACHINE);
  if (quiet) quiet.silence = { from: start - 5 * MS_PER_HOUR, until: Number.POSITIVE_INFINITY };
  return { machines: new Map(machines.map((machine) => [machine.name, machine])), rings: ringsOf(machines) };
}

/** @throws RangeError if no machine has this name. */
export function machineOf(fleet: Fleet, name: string): SimulatedMachine {
  const machine = fleet.machines.get(name);
  if (!machine) throw new RangeError(`no machine is called ${name}`);
  return machine;
}

/** The rings of some machines; unknown names are ignored. */
export function ringsOfNames(fleet: Fleet, names: readonly string[]): Fleet['rings'] {
  return ringsOf([...new Set(names)].flatMap((name) => fleet.machines.get(name) ?? []));
}

function ringsOf(machines: readonly SimulatedMachine[]): Fleet['rings'] {
  const ordered = machines.toSorted((a, b) => b.phase - a.phase || (a.name < b.name ? -1 : 1));
  const validators = ordered.filter((machine) => machine.profile.hasValidator);
  return { system: ordered, validator: validators, node: ordered };
}

export interface RecordWindow {
  /** Both inclusive. */
  readonly oldest: UnixMs;
  readonly newest: UnixMs;
  /** Only every n-th minute is returned. */
  readonly gap: number;
}

/** The position of a record in the order of its process. */
export type RecordPosition = readonly [time: UnixMs, name: string];

/** At most `max` pushes of one process after a position, newest first and by name at the same time. */
export function newestPushes(
  ring: readonly SimulatedMachine[],
  process: ProcessName,
  { oldest, newest, gap }: RecordWindow,
  after: RecordPosition | undefined,
  max: number,
): Push[] {
  const found: Push[] = [];
  if (ring.length === 0) return found;
  const start = (after ? after[0] : newest) - DELAY[process];
  let minute = Math.floor(start / MS_PER_MINUTE);
  const phase = start - minute * MS_PER_MINUTE;
  let i = ring.filter((machine) => comesBefore(machine, phase, after?.[1])).length;
  for (; (minute + 1) * MS_PER_MINUTE + DELAY[process] > oldest; minute -= 1, i = 0) {
    if (minute % gap !== 0) continue;
    for (let machine = ring[i]; machine; i += 1, machine = ring[i]) {
      const time = minute * MS_PER_MINUTE + machine.phase + DELAY[process];
      if (time < oldest || found.length === max) return found;
      if (!isSilent(machine, time)) found.push({ time, machine });
    }
  }
  return found;
}

/** Whether a machine is in the ring before a phase, or not after a name at this phase. */
function comesBefore(machine: SimulatedMachine, phase: Milliseconds, name: string | undefined): boolean {
  if (machine.phase !== phase) return machine.phase > phase;
  return name !== undefined && machine.name <= name;
}

function isSilent({ silence }: SimulatedMachine, time: UnixMs): boolean {
  return silence !== undefined && time > silence.from && time <= silence.until;
}
