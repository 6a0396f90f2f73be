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
}

const DELAY: Record<ArrayName, number> = { system: 0, validator: 40, node: 85 };
const MAX_WAY_MS = 2_000;
const EVER = Number.NEGATIVE_INFINITY;

/**
 * Machines that push about once a minute. Whether and when the service has a push depends only on the seed and on the
 * orders. A machine-wide counter is the second of the push, so that a value shows which push it is from; the counters of
 * a process begin with its start.
 */
export class Machines {
  readonly #setting: Pick<ServiceSetting, 'seed' | 'missing'>;
  /** The share of spoilt records, and how late records are, from a time on, ascending. */
  readonly #odd: { readonly from: number; readonly share: number }[];
  readonly #lags: { readonly from: number; readonly lag: Lag }[];
  readonly #machines = new Map<string, Machine>();
  /** The next so many pages are empty, and lead to another one. */
  emptyPages = 0;

  constructor(setting: ServiceSetting) {
    this.#setting = setting;
    this.#odd = [{ from: EVER, share: setting.odd.machines }];
    this.#lags = [{ from: EVER, lag: setting.lag }];
    for (const name of setting.machines) this.add(name, EVER);
  }

  get names(): string[] {
    return [...this.#machines.keys()];
  }

  /** Adds a machine that pushes from a time on. */
  add(name: string, from: number): void {
    const id = this.#machines.size;
    const phase = between(0, MINUTE - 1, this.#setting.seed, 1, id);
    this.#machines.set(name, { name, id, phase, spans: [{ from, until: Number.POSITIVE_INFINITY }], restarts: [] });
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

  /** How late the records are that are pushed from `from` on. */
  delay(lag: Lag, from: number): void {
    this.#lags.push({ from, lag });
  }

  /** The share of spoilt records among those that are pushed from `from` on. */
  spoil(share: number, from: number): void {
    this.#odd.push({ from, share });
  }

  calm(now: number): void {
    this.spoil(0, now);
    this.delay({ of: 'none', ms: 0 }, now);
    this.emptyPages = 0;
  }

  /** When a machine last began to push, and when it stops, Unix ms. */
  lastSpan(name: string): { readonly from: number; readonly until: number } {
    return this.#named(name).spans.at(-1) ?? { from: 0, until: 0 };
  }

  /** The newest push that can be read at `now`: it has arrived and is not spoilt. */
  newest(name: string, array: ArrayName, now: number): Push | undefined {
    const range = { start: now - 31 * 1_440 * MINUTE, end: now };
    for (const push of this.pushes(this.#named(name), array, range, now)) if (!this.isSpoilt(push)) return push;
    return undefined;
  }

  /** The names of the machines with a record in the last five hours. */
  listed(now: number): string[] {
    const range = { start: now - 300 * MINUTE, end: now };
    const isListed = (one: Machine): boolean => !this.pushes(one, 'system', range, now).next().done;
    return this.selected(undefined)
      .filter(isListed)
      .map(({ name }) => name);
  }

  /** The machines with these names, or all. */
  selected(names: readonly string[] | undefined): Machine[] {
    return names ? names.flatMap((name) => this.#machines.get(name) ?? []) : [...this.#machines.values()];
  }

  /** The pushes of an inclusive range (Unix ms) that have arrived by `now`, newest first. */
  *pushes(machine: Machine, array: ArrayName, range: { start: number; end: number }, now: number): Generator<Push> {
    const offset = machine.phase + DELAY[array];
    for (const span of machine.spans.toReversed()) {
      const oldest = Math.max(range.start, span.from);
      const newest = Math.min(range.end, now, span.until - 1);
      for (let turn = Math.floor((newest - offset) / MINUTE); turn * MINUTE + offset >= oldest; turn -= 1) {
        const push = { machine, array, time: turn * MINUTE + offset };
        if (this.#hasArrived(push, turn, now)) yield push;
      }
    }
  }

  isSpoilt({ machine, array, time }: Push): boolean {
    const share = this.oddAt(time);
    return (
      share > 0 && unit(this.#setting.seed, 5, machine.id, Math.floor(time / 1_000), ARRAYS.indexOf(array)) < share
    );
  }

  /** The share of odd records among those pushed at this time. */
  oddAt(time: number): number {
    return this.#odd.findLast(({ from }) => from <= time)?.share ?? 0;
  }

  #hasArrived({ machine: { id }, time }: Push, turn: number, now: number): boolean {
    const { seed, missing } = this.#setting;
    if (missing > 0 && unit(seed, 2, id, turn) < missing) return false;
    const lag = this.#lags.findLast(({ from }) => from <= time)?.lag;
    const late = lag?.of === 'all' || (lag?.of === 'one' && id === 0) ? lag.ms : 0;
    return time + late + unit(seed, 4, id, turn) * MAX_WAY_MS <= now;
  }

  #named(name: string): Machine {
    const machine = this.#machines.get(name);
    if (!machine) throw new RangeError(`no machine is called ${name}`);
    return machine;
  }
}

/** What a push says, by the names of the service. */
export function fieldsOf({ machine, array, time }: Push): Record<string, string | number | boolean> {
  const second = Math.floor(time / 1_000);
  if (array === 'system')
    return {
      cpu_cores: 8,
      cpu_node_user_seconds_total: second,
      cpu_node_system_seconds_total: 3 * second,
      misc_os: 'lin',
    };
  const started = machine.restarts.findLast((one) => one <= time) ?? 0;
  return {
    cpu_process_seconds_total: second - Math.floor(started / 1_000),
    memory_process_bytes: 1_000_000_000 + machine.id,
    client_name: 'lighthouse',
    client_version: '8.0.0',
    ...(array === 'node'
      ? { sync_eth2_synced: true, network_peers_connected: 60 + (second % 40) }
      : { validator_total: 12 }),
  };
}
