import type { Chain } from '../facts/chain.ts';
import { MS_PER_DAY, MS_PER_MINUTE, SECONDS_PER_DAY } from '../toolkit/lib/duration.ts';
import { between, seedOf } from '../toolkit/lib/random.ts';
import type { UnixMs, UnixSeconds } from '../toolkit/lib/time.ts';
import { type MachineMetricsBody, pageOf } from './body.ts';
import { type CLIENTS, PROCESSES, type Push, recordOf, type SimulatedMachine } from './machines-records.ts';

/** Older records are deleted (api-facts 2). */
const RETENTION_MS = 31 * MS_PER_DAY;

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

/** 2025-01-01. Machines never restart. */
const FIRST_BOOT: UnixSeconds = 1_735_689_600;

/** The named machines, then machine-0001 and so on: `count` in all. */
export function createFleet(seed: string, count = NAMED.length): Fleet {
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

interface Span {
  /** Both inclusive. */
  readonly oldest: UnixMs;
  readonly newest: UnixMs;
}

/** Of longer ranges the service returns only some records of a machine (api-facts 2). */
const UNTHINNED_MS = 770 * MS_PER_MINUTE;

/** The pushes in a span, newest first and by name at the same time. */
export function* pushesIn(ring: readonly SimulatedMachine[], { oldest, newest }: Span): Generator<Push> {
  const gap = newest - oldest > UNTHINNED_MS ? 4 : 1;
  for (let minute = Math.floor(newest / MS_PER_MINUTE); (minute + 1) * MS_PER_MINUTE > oldest; minute -= 1) {
    if (minute % gap !== 0) continue;
    for (const machine of ring) {
      const time = minute * MS_PER_MINUTE + machine.phase;
      if (time >= oldest && time <= newest && !isSilent(machine, time)) yield { time, machine };
    }
  }
}

function isSilent({ silence }: SimulatedMachine, time: UnixMs): boolean {
  return silence !== undefined && time > silence.from && time <= silence.until;
}

/** POST /api/v2/machine-metrics (api-facts 2). All processes of a machine push together. */
export function machineMetrics({ fleet }: { readonly fleet: Fleet }, asked: MachineMetricsBody, now: UnixMs): string {
  const { range, machines: names } = asked;
  const ring = names.length === 0 ? fleet.ring : fleet.ring.filter(({ name }) => names.includes(name));
  const { page, paging } = pageOf(asked, now, (at) => pushesIn(ring, spanOf(range, at)));
  const arrays = PROCESSES.map((process) => [`${process}_metrics`, page.map((push) => recordOf(process, push))]);
  return JSON.stringify({ data: Object.fromEntries(arrays), paging });
}

/** Limited to the records that exist. Bounds are whole seconds, while records have milliseconds. */
function spanOf({ timestamp: { start, end } }: MachineMetricsBody['range'], now: UnixMs): Span {
  return { oldest: Math.max(start * 1000, now - RETENTION_MS), newest: Math.min(end * 1000 + 999, now) };
}

const LISTED_MS = 300 * MS_PER_MINUTE;

/** POST /api/v2/machine-metrics/machine-names: the machines of the last five hours (api-facts 2). */
export function machineNames({ fleet }: { readonly fleet: Fleet }, _: object, now: UnixMs): string {
  const span = { oldest: now - LISTED_MS, newest: now };
  const listed = [...fleet.machines.values()].filter((one) => pushesIn([one], span).some(() => true));
  return JSON.stringify({ data: listed.map(({ name }) => name) });
}
