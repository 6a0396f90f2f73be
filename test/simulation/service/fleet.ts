import { addMachine, createFleet, type Fleet, type Keeping, pushesIn } from '../../../src/sandbox/machines.ts';
import { type Process, recordOf, type SimulatedMachine } from '../../../src/sandbox/machines-records.ts';
import { HOUR } from '../../support/time/timing.ts';
import type { ServiceSetting } from './setting.ts';

export interface CountingFleetOptions extends Partial<Keeping> {
  readonly machines: number | readonly string[];
  readonly seed?: number;
  /** By how much the records of each machine are late, in the order of the machines. */
  readonly lateMs?: (i: number) => number;
}

/** Machines m0, m1 and so on. Their pushes take up to two seconds to arrive. */
export function countingFleet({ machines, seed = 1, lateMs = () => 0, ...keeping }: CountingFleetOptions): Fleet {
  const fleet = createFleet(`${seed}`, 0, { compares: 'milliseconds', wayMs: 2_000, ...keeping });
  const names = typeof machines === 'number' ? Array.from({ length: machines }, (_, i) => `m${i}`) : machines;
  for (const [i, name] of names.entries()) addCounting(fleet, name, { lateMs: lateMs(i) });
  return fleet;
}

/** Adds a machine whose counters are the time of the record in seconds, so that a value shows which push it is from. */
export function addCounting(fleet: Fleet, name: string, given: Parameters<typeof addMachine>[2] = {}): void {
  const contents = (_: Process, time: number): object => {
    const seconds = Math.floor(time / 1_000);
    return { cpu_node_user_seconds_total: seconds, cpu_process_seconds_total: seconds };
  };
  addMachine(fleet, name, { contents, ...given });
}

export function machineIn(fleet: Fleet, name: string): SimulatedMachine {
  const machine = fleet.machines.get(name);
  if (!machine) throw new RangeError(`no machine is called ${name}`);
  return machine;
}

/** Puts fields into the records of a machine, in place of those that are drawn. */
export function changeRecords(fleet: Fleet, name: string, change: (process: Process, time: number) => object): void {
  const machine = machineIn(fleet, name);
  const contents = (process: Process, time: number): object => ({
    ...recordOf({ machine, process, time }),
    ...change(process, time),
  });
  fleet.machines.set(name, { ...machine, contents });
}

/** The time (Unix ms) of the newest record of a process in the last hour that has arrived by `now`. */
export function newestOf(fleet: Fleet, name: string, process: Process, now: number): number | undefined {
  return newestIn(fleet, name, process, { oldest: now - HOUR, newest: now }, now);
}

/** Whether a process has a record of this second (Unix seconds) that has arrived by `now`. */
export function hasRecord(fleet: Fleet, name: string, process: Process, seconds: number, now: number): boolean {
  const span = { oldest: seconds * 1_000, newest: seconds * 1_000 + 999 };
  return newestIn(fleet, name, process, span, now) !== undefined;
}

/** The same in a span, both ends inclusive. */
export function newestIn(
  fleet: Fleet,
  name: string,
  process: Process,
  span: { oldest: number; newest: number },
  now: number,
) {
  const wanted = { ...span, machines: [machineIn(fleet, name)], processes: [process] };
  return pushesIn(fleet, wanted, now).next().value?.time;
}

/** A record as a client reads it. */
export interface Push {
  readonly machine: string;
  /** `system`, `validator` or `node`. */
  readonly array: string;
  /** Unix ms. */
  readonly time: number;
}

interface Answer {
  readonly data: Readonly<Record<string, readonly { readonly machine: string; readonly timestamp: number }[]>>;
}

export function fleetOf({ seed, missing, pageSizeOver, lag, longestPage, machines }: ServiceSetting): Fleet {
  const lateMs = (i: number): number => (lag.of === 'all' || (lag.of === 'one' && i === 0) ? lag.ms : 0);
  return countingFleet({ machines, seed, missing: { machine: missing }, pageSizeOver, longestPage, lateMs });
}

/** The records of a page. */
export function pushesOf(page: string): Push[] {
  const { data }: Answer = JSON.parse(page);
  return Object.entries(data).flatMap(([name, records]) =>
    records.map(({ machine, timestamp }) => ({ machine, array: name.replace('_metrics', ''), time: timestamp })),
  );
}
