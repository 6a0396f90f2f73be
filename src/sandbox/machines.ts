import type { Chain } from '../facts/chain.ts';
import { MS_PER_MINUTE, SECONDS_PER_DAY } from '../toolkit/lib/duration.ts';
import { between, seedOf } from '../toolkit/lib/random.ts';
import type { Milliseconds, UnixMs, UnixSeconds } from '../toolkit/lib/time.ts';
import { decodeCursor, encodeCursor, type MachineMetricsBody } from './body.ts';
import { type CLIENTS, PROCESSES, type Push, recordOf, type SimulatedMachine } from './machines-records.ts';
import { Refusal } from './refusal.ts';

/** Older records are deleted (api-facts 2). */
const RETENTION_SECONDS = 31 * SECONDS_PER_DAY;

export interface Fleet {
  readonly machines: ReadonlyMap<string, SimulatedMachine>;
  /** In the order of their records within a minute, newest first. */
  readonly ring: readonly SimulatedMachine[];
}

const NAMED: readonly (readonly [string, Chain, keyof typeof CLIENTS])[] = [
  ['node-a', 'mainnet', 'lighthouse'],
  ['node-b', 'mainnet', 'teku'],
  ['node-c', 'mainnet', 'nimbus'],
  ['hoodi-1', 'hoodi', 'lodestar'],
  ['node-d', 'mainnet', 'lighthouse'],
];
export const NAMED_MACHINES = NAMED.length;

/** 2025-01-01. Machines never restart. */
const FIRST_BOOT: UnixSeconds = 1_735_689_600;

/** The named machines, then machine-0001 and so on: `count` in all. */
export function createFleet(seed: string, count: number): Fleet {
  const machines = Array.from({ length: count }, (_, i): SimulatedMachine => {
    const unnamed = `machine-${String(i + 1 - NAMED.length).padStart(4, '0')}`;
    const [name, chain, client] = NAMED[i] ?? [unnamed, 'mainnet', 'lighthouse'];
    const own = seedOf(`${seed} machine ${name}`);
    const boot = FIRST_BOOT + between(0, 100 * SECONDS_PER_DAY, own, 2);
    return { name, chain, client, seed: own, phase: between(0, 59_999, own, 1), boot };
  });
  return {
    machines: new Map(machines.map((machine) => [machine.name, machine])),
    ring: machines.toSorted((a, b) => b.phase - a.phase || (a.name < b.name ? -1 : 1)),
  };
}

/** @throws Refusal if no machine has this name. */
export function machineOf({ machines }: Fleet, name: string): SimulatedMachine {
  const machine = machines.get(name);
  if (!machine) throw new Refusal(400, `machine: expected one of ${[...machines.keys()].join(', ')}`);
  return machine;
}

interface RecordWindow {
  /** Both inclusive. */
  readonly oldest: UnixMs;
  readonly newest: UnixMs;
  /** Only every n-th minute is returned. */
  readonly gap: number;
}

type RecordPosition = readonly [time: UnixMs, name: string];

/** At most `max` pushes after a position, newest first and by name at the same time. */
export function newestPushes(
  ring: readonly SimulatedMachine[],
  { oldest, newest, gap }: RecordWindow,
  after: RecordPosition | undefined,
  max: number,
): Push[] {
  const found: Push[] = [];
  if (ring.length === 0) return found;
  const start = after ? after[0] : newest;
  let minute = Math.floor(start / MS_PER_MINUTE);
  const phase = start - minute * MS_PER_MINUTE;
  let i = ring.filter((machine) => comesBefore(machine, phase, after?.[1])).length;
  for (; (minute + 1) * MS_PER_MINUTE > oldest; minute -= 1, i = 0) {
    if (minute % gap !== 0) continue;
    for (let machine = ring[i]; machine; i += 1, machine = ring[i]) {
      const time = minute * MS_PER_MINUTE + machine.phase;
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

const LISTED_MS = 300 * MS_PER_MINUTE;

/** Where the next page continues, and the end of the first page, which is that of all pages. */
interface MachineMetricsCursor {
  readonly newest: UnixMs;
  readonly after: RecordPosition;
}

/** POST /api/v2/machine-metrics (api-facts 2). All processes of a machine push together. */
export function machineMetrics({ fleet }: { readonly fleet: Fleet }, asked: MachineMetricsBody, now: UnixMs): string {
  const { range, machines: names, page_size: size } = asked;
  const query = [range, names, size];
  const cursor = decodeCursor<MachineMetricsCursor>(query, asked.cursor);
  const window = windowOf(range, now, cursor);
  const ring = names.length === 0 ? fleet.ring : fleet.ring.filter(({ name }) => names.includes(name));
  // One more than fits shows whether there is another page.
  const found = newestPushes(ring, window, cursor?.after, size + 1);
  const page = found.slice(0, size);
  const last = page.at(-1);
  const next = last && { newest: window.newest, after: [last.time, last.machine.name] };
  const arrays = PROCESSES.map((process) => [`${process}_metrics`, page.map((push) => recordOf(process, push))]);
  return JSON.stringify({
    data: Object.fromEntries(arrays),
    paging: { next_cursor: next && found.length > size ? encodeCursor(query, next) : '' },
  });
}

/** POST /api/v2/machine-metrics/machine-names: the machines of the last five hours (api-facts 2). */
export function machineNames({ fleet }: { readonly fleet: Fleet }, _: object, now: UnixMs): string {
  const window = { oldest: now - LISTED_MS, newest: now, gap: 1 };
  const listed = [...fleet.machines.values()].filter((one) => newestPushes([one], window, undefined, 1).length > 0);
  return JSON.stringify({ data: listed.map(({ name }) => name) });
}

/** Limited to the records that exist. Bounds are whole seconds, while records have milliseconds. */
function windowOf(
  { timestamp: range }: MachineMetricsBody['range'],
  now: UnixMs,
  cursor: MachineMetricsCursor | undefined,
): RecordWindow {
  const oldest = Math.max(range.start, Math.ceil(now / 1000) - RETENTION_SECONDS);
  const newest = cursor?.newest ?? Math.min(range.end * 1000 + 999, now);
  // Of long ranges the service returns only some records of a machine (api-facts 2).
  const gap = (newest / 1000 - oldest) / 60 > 770 ? 4 : 1;
  return { oldest: oldest * 1000, newest, gap };
}
