import type { Chain } from '../facts/chain.ts';
import { MS_PER_DAY, MS_PER_MINUTE, SECONDS_PER_DAY } from '../toolkit/lib/duration.ts';
import { between, seedOf, unit } from '../toolkit/lib/random.ts';
import type { Milliseconds, UnixMs, UnixSeconds } from '../toolkit/lib/time.ts';
import { type MachineMetricsBody, pageOf } from './body.ts';
import {
  type CLIENTS,
  PROCESSES,
  type Process,
  type Push,
  recordOf,
  type SimulatedMachine,
} from './machines-records.ts';

/** Behaviour of the service that no document describes, and of the network. */
export interface Keeping {
  /** Whether `page_size` limits each array of a page, or all together. */
  readonly pageSizeOver: 'each' | 'all';
  /** A page has no more records of an array than this, whatever was requested. */
  readonly longestPage: number;
  /** The unit in which the time of a record is compared with a range. */
  readonly compares: 'milliseconds' | 'seconds';
  /** The longest time of a push on its way. */
  readonly wayMs: Milliseconds;
  /** The share of pushes that lose all their records, and the share of records that get lost alone. */
  readonly missing: { readonly machine?: number; readonly array?: number };
}

export interface Fleet extends Keeping {
  readonly seed: string;
  readonly machines: Map<string, SimulatedMachine>;
  /** The pushes behind the last page. They stay valid, because orders change only later pushes. */
  last?: { readonly of: string; readonly rows: Iterable<readonly Push[]> };
}

const NAMED: readonly (readonly [string, Chain, keyof typeof CLIENTS])[] = [
  ['node-a', 'mainnet', 'lighthouse'],
  ['node-b', 'mainnet', 'teku'],
  ['node-c', 'mainnet', 'nimbus'],
  ['hoodi-1', 'hoodi', 'lodestar'],
  ['node-d', 'mainnet', 'lighthouse'],
];

/** The service returns every push of ranges up to this length, and some pushes of longer ones (api-facts 2). */
const UNTHINNED_MS: Milliseconds = 770 * MS_PER_MINUTE;
/** 2025-01-01. Machines never restart. */
const FIRST_BOOT: UnixSeconds = 1_735_689_600;

/** The named machines, then machine-0001 and so on: `count` in all. */
export function createFleet(seed: string, count = NAMED.length, keeping: Partial<Keeping> = {}): Fleet {
  const fleet: Fleet = {
    seed,
    machines: new Map(),
    pageSizeOver: 'each',
    longestPage: Number.POSITIVE_INFINITY,
    compares: 'seconds',
    wayMs: 0,
    missing: {},
    ...keeping,
  };
  for (let i = 0; i < count; i += 1) {
    const unnamed = `machine-${String(i + 1 - NAMED.length).padStart(4, '0')}`;
    const [name, chain, client] = NAMED[i] ?? [unnamed, 'mainnet', 'lighthouse'];
    addMachine(fleet, name, { chain, client });
  }
  return fleet;
}

/** Adds a machine that pushes each minute from `from` on. */
export function addMachine(
  { seed, machines }: Fleet,
  name: string,
  { from = Number.NEGATIVE_INFINITY, ...given }: Partial<SimulatedMachine> & { readonly from?: UnixMs } = {},
): void {
  const own = seedOf(`${seed} machine ${name}`);
  const everyMs = given.everyMs ?? MS_PER_MINUTE;
  machines.set(name, {
    name,
    chain: 'mainnet',
    client: 'lighthouse',
    seed: own,
    everyMs,
    phase: between(0, everyMs - 1, own, 1),
    boot: FIRST_BOOT + between(0, 100 * SECONDS_PER_DAY, own, 2),
    lateMs: 0,
    spans: [{ from, until: Number.POSITIVE_INFINITY }],
    ...given,
  });
}

/** The machine pushes nothing from `at` on. */
export function silence({ spans }: SimulatedMachine, at: UnixMs): void {
  for (const span of spans) span.until = Math.min(span.until, at);
}

/** A silent machine pushes again from `at` on. */
export function wake({ spans }: SimulatedMachine, at: UnixMs): void {
  if (spans.every(({ until }) => until <= at)) spans.push({ from: at, until: Number.POSITIVE_INFINITY });
}

interface Span {
  /** Both inclusive. */
  readonly oldest: UnixMs;
  readonly newest: UnixMs;
}

export interface Wanted extends Span {
  readonly machines: readonly SimulatedMachine[];
  readonly processes?: readonly Process[];
}

/** The processes of a machine push one after another, milliseconds. */
const AFTER: Readonly<Record<Process, Milliseconds>> = { system: 0, validator: 40, node: 85 };

/** The pushes of which the service has a record at `now`, newest first and by name at the same time. */
export function* pushesIn(fleet: Fleet, wanted: Wanted, now: UnixMs): Generator<Push> {
  const { machines, oldest, newest, processes = PROCESSES } = wanted;
  const gap = newest - oldest > UNTHINNED_MS ? 4 : 1;
  for (let minute = Math.floor(newest / MS_PER_MINUTE); (minute + 1) * MS_PER_MINUTE > oldest; minute -= 1) {
    const from = Math.max(minute * MS_PER_MINUTE, oldest);
    const until = Math.min((minute + 1) * MS_PER_MINUTE, newest + 1);
    const pushes: Push[] = [];
    for (const machine of machines) {
      for (const process of processes) {
        const first = machine.phase + AFTER[process];
        for (let turn = Math.ceil((from - first) / machine.everyMs); ; turn += 1) {
          const time = turn * machine.everyMs + first;
          if (time >= until) break;
          const push = { machine, process, time };
          if (turn % gap === 0 && isKept(fleet, push, turn, now)) pushes.push(push);
        }
      }
    }
    yield* pushes.sort((a, b) => b.time - a.time || (a.machine.name < b.machine.name ? -1 : 1));
  }
}

function isKept({ missing, wayMs }: Fleet, { machine, process, time }: Push, turn: number, now: UnixMs): boolean {
  const { seed, lateMs, spans } = machine;
  if (time > now || !spans.some(({ from, until }) => time >= from && time < until)) return false;
  if (missing.machine && unit(seed, 11, turn) < missing.machine) return false;
  if (missing.array && unit(seed, 12, turn, PROCESSES.indexOf(process)) < missing.array) return false;
  return time + lateMs + (wayMs && unit(seed, 13, turn) * wayMs) <= now;
}

/** POST /api/v2/machine-metrics (api-facts 2). */
export function machineMetrics({ fleet }: { readonly fleet: Fleet }, asked: MachineMetricsBody, now: UnixMs): string {
  const { page, paging } = pageOf(asked, now, (at) => sequenceOf(fleet, asked, at), fleet.longestPage);
  const pushes = page.flat();
  const arrays = PROCESSES.map((process) => {
    return [`${process}_metrics`, pushes.filter((push) => push.process === process).map(recordOf)];
  });
  return JSON.stringify({ data: Object.fromEntries(arrays), paging });
}

/** What `page_size` counts: the pushes one by one, or the first of each array, the second of each, and so on. */
function sequenceOf(fleet: Fleet, { range, machines }: MachineMetricsBody, at: UnixMs): Iterable<readonly Push[]> {
  const of = JSON.stringify([range, machines, at]);
  if (fleet.last?.of === of) return fleet.last.rows;
  const named = [...new Set(machines)].flatMap((name) => fleet.machines.get(name) ?? []);
  const wanted = {
    ...spanOf(fleet, range, at),
    machines: machines.length === 0 ? [...fleet.machines.values()] : named,
  };
  const { pageSizeOver } = fleet;
  const counted = pageSizeOver === 'all' ? [PROCESSES] : PROCESSES.map((process) => [process]);
  const rows = remembered(abreast(counted.map((processes) => pushesIn(fleet, { ...wanted, processes }, at))));
  fleet.last = { of, rows };
  return rows;
}

/** The first items of all sequences, then the second ones, and so on. */
function* abreast<T>(sequences: readonly Iterator<T>[]): Generator<readonly T[]> {
  for (;;) {
    const items = sequences.map((sequence) => sequence.next()).filter(({ done }) => !done);
    if (items.length === 0) return;
    yield items.map(({ value }) => value);
  }
}

/** The same items each time, generated once. */
function remembered<T>(items: Iterator<T>): Iterable<T> {
  const known: T[] = [];
  return {
    *[Symbol.iterator]() {
      yield* known;
      for (let next = items.next(); !next.done; next = items.next()) {
        known.push(next.value);
        yield next.value;
      }
    },
  };
}

/** The service deletes older records (api-facts 2). */
const RETENTION_MS = 31 * MS_PER_DAY;

/** Limited to the records that exist. Bounds are whole seconds, while records have milliseconds. */
function spanOf({ compares }: Fleet, { timestamp: { start, end } }: MachineMetricsBody['range'], now: UnixMs): Span {
  const rest = compares === 'seconds' ? 999 : 0;
  return { oldest: Math.max(start * 1000, now - RETENTION_MS), newest: Math.min(end * 1000 + rest, now) };
}

const LISTED_MS = 300 * MS_PER_MINUTE;

/** POST /api/v2/machine-metrics/machine-names: the machines of the last five hours (api-facts 2). */
export function machineNames({ fleet }: { readonly fleet: Fleet }, _: object, now: UnixMs): string {
  const span = { oldest: now - LISTED_MS, newest: now };
  const listed = [...fleet.machines.values()].filter((one) =>
    pushesIn(fleet, { ...span, machines: [one] }, now).some(() => true),
  );
  return JSON.stringify({ data: listed.map(({ name }) => name) });
}
