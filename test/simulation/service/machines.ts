import { between, unit } from '../../../src/lib/random.ts';
import { MINUTE } from '../../support/timing.ts';
import type { Lag, ServiceSetting } from './setting.ts';

export const ARRAYS = ['system', 'validator', 'node'] as const;
export type ArrayName = (typeof ARRAYS)[number];

/** One record that a machine pushed. */
export interface Push {
  readonly machine: Machine;
  readonly array: ArrayName;
  /** Unix ms. */
  readonly time: number;
}

interface Machine {
  readonly name: string;
  readonly id: number;
  /** When it pushes in each minute, ms. */
  readonly phase: number;
  /** When it pushes, Unix ms. */
  readonly spans: { readonly from: number; until: number }[];
  /** When its processes were started again, Unix ms, ascending. */
  readonly restarts: number[];
  /** The free share of its disk from a time on, ascending. */
  readonly disk: { readonly from: number; readonly free: number }[];
}

const DELAY: Record<ArrayName, number> = { system: 0, validator: 40, node: 85 };
const MAX_WAY_MS = 2_000;

type MachinesSetting = Pick<ServiceSetting, 'seed' | 'machines' | 'missing' | 'lag' | 'odd'>;

/**
 * Machines that push about once a minute. Whether and when the service has a push depends only on the seed and on the
 * orders. A machine-wide counter is the second of the push, so that a value shows which push it is from; the counters of
 * a process begin with its start.
 */
export class Machines {
  readonly #seed: number;
  readonly #missing: ServiceSetting['missing'];
  /** The share of spoilt records from a time on, ascending. */
  readonly #odd: { readonly from: number; readonly share: number }[];
  readonly #lags: { readonly from: number; readonly lag: Lag }[];
  readonly #machines = new Map<string, Machine>();
  #emptyPages = 0;
  /** The good records of the page that was made last. */
  lastPage: readonly Push[] = [];

  constructor({ seed, machines, missing, lag, odd }: MachinesSetting) {
    this.#seed = seed;
    this.#missing = missing;
    this.#odd = [{ from: Number.NEGATIVE_INFINITY, share: odd.machines }];
    this.#lags = [{ from: Number.NEGATIVE_INFINITY, lag }];
    for (const name of machines) this.add(name, Number.NEGATIVE_INFINITY);
  }

  get names(): string[] {
    return [...this.#machines.keys()];
  }

  /** Adds a machine that pushes from a time on. */
  add(name: string, from: number): void {
    const id = this.#machines.size;
    const phase = between(0, MINUTE - 1, this.#seed, 1, id);
    const spans = [{ from, until: Number.POSITIVE_INFINITY }];
    this.#machines.set(name, { name, id, phase, spans, restarts: [], disk: [] });
  }

  /** The machine pushes nothing after `at`. */
  silence(name: string, at: number): void {
    const last = this.#named(name).spans.at(-1);
    if (last && last.until > at) last.until = at;
  }

  /** A silent machine pushes again from `at` on. */
  wake(name: string, at: number): void {
    const { spans } = this.#named(name);
    if ((spans.at(-1)?.until ?? at) <= at) spans.push({ from: at, until: Number.POSITIVE_INFINITY });
  }

  /** The processes of the machine are started again: their counters begin at 0. */
  restart(name: string, at: number): void {
    this.#named(name).restarts.push(at);
  }

  /** From `at` on, only this share of the disk is free. */
  fillDisk(name: string, free: number, at: number): void {
    this.#named(name).disk.push({ from: at, free });
  }

  /** How late the records are that are pushed from `at` on. */
  delay(lag: Lag, at: number): void {
    this.#lags.push({ from: at, lag });
  }

  /** The share of spoilt records among those that are pushed from `at` on. */
  spoil(share: number, at: number): void {
    this.#odd.push({ from: at, share });
  }

  /** The next so many pages are empty, and lead to another one. */
  emptyPages(count: number): void {
    this.#emptyPages = count;
  }

  isPageEmpty(): boolean {
    if (this.#emptyPages <= 0) return false;
    this.#emptyPages -= 1;
    return true;
  }

  /** When a machine pushes, Unix ms. */
  spansOf(name: string): readonly { readonly from: number; readonly until: number }[] {
    return this.#named(name).spans;
  }

  /** The newest push that can be read at `now`: it has arrived and is not spoilt. */
  newest(name: string, array: ArrayName, now: number): Push | undefined {
    for (const push of this.pushes(this.#named(name), array, { start: now - 31 * 1_440 * MINUTE, end: now }, now)) {
      if (!this.isSpoilt(push)) return push;
    }
    return undefined;
  }

  /** The machines with these names, or all. */
  selected(names: readonly string[] | undefined): Machine[] {
    return names ? names.flatMap((name) => this.#machines.get(name) ?? []) : [...this.#machines.values()];
  }

  /** The pushes of an inclusive range (Unix ms) that have arrived by `now`, newest first. */
  *pushes(machine: Machine, array: ArrayName, range: { start: number; end: number }, now: number): Generator<Push> {
    const offset = machine.phase + DELAY[array];
    for (let i = machine.spans.length - 1; i >= 0; i -= 1) {
      const span = machine.spans[i];
      if (!span) continue;
      const oldest = Math.max(range.start, span.from);
      const newest = Math.min(range.end, now, span.until - 1);
      for (let turn = Math.floor((newest - offset) / MINUTE); turn * MINUTE + offset >= oldest; turn -= 1) {
        const push = { machine, array, time: turn * MINUTE + offset };
        if (this.#hasArrived(push, turn, now)) yield push;
      }
    }
  }

  /** How late a record of a machine is that is pushed at this time, ms. */
  lagOf(id: number, time: number): number {
    const lag = at(this.#lags, time)?.lag;
    return lag?.of === 'all' || (lag?.of === 'one' && id === 0) ? lag.ms : 0;
  }

  isSpoilt({ machine, array, time }: Push): boolean {
    const share = this.oddAt(time);
    return share > 0 && unit(this.#seed, 5, machine.id, Math.floor(time / 1_000), ARRAYS.indexOf(array)) < share;
  }

  /** The share of odd records among those pushed at this time. */
  oddAt(time: number): number {
    return at(this.#odd, time)?.share ?? 0;
  }

  #hasArrived({ machine, array, time }: Push, turn: number, now: number): boolean {
    const { id } = machine;
    const { machine: whole, array: each } = this.#missing;
    if (whole > 0 && unit(this.#seed, 2, id, turn) < whole) return false;
    if (each > 0 && unit(this.#seed, 3, id, turn, ARRAYS.indexOf(array)) < each) return false;
    return time + this.lagOf(id, time) + unit(this.#seed, 4, id, turn) * MAX_WAY_MS <= now;
  }

  #named(name: string): Machine {
    const machine = this.#machines.get(name);
    if (!machine) throw new RangeError(`no machine is called ${name}`);
    return machine;
  }
}

const DISK = 1_000_000_000_000;

/** What a push says, by the names of the service. */
export function fieldsOf({ machine, array, time }: Push): Record<string, string | number | boolean> {
  const second = Math.floor(time / 1_000);
  if (array === 'system') {
    return {
      cpu_cores: 8,
      cpu_node_user_seconds_total: second,
      cpu_node_system_seconds_total: 3 * second,
      disk_node_bytes_total: DISK,
      disk_node_bytes_free: Math.floor((at(machine.disk, time)?.free ?? 0.6) * DISK),
      misc_os: 'lin',
    };
  }
  const started = machine.restarts.findLast((one) => one <= time);
  const sinceStart = second - (started === undefined ? 0 : Math.floor(started / 1_000));
  return {
    cpu_process_seconds_total: sinceStart,
    memory_process_bytes: 1_000_000_000 + machine.id,
    client_name: 'lighthouse',
    client_version: '8.0.0',
    ...(array === 'node'
      ? { sync_eth2_synced: true, network_peers_connected: 60 + (second % 40) }
      : { validator_total: 12 }),
  };
}

function at<T extends { readonly from: number }>(steps: readonly T[], time: number): T | undefined {
  return steps.length <= 1 && steps[0]?.from === Number.NEGATIVE_INFINITY
    ? steps[0]
    : steps.findLast(({ from }) => from <= time);
}
