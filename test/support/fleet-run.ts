import type { Plan } from '../../src/sandbox/plan.ts';
import { machinesSource } from '../../src/sources/machines/index.ts';
import type { MachinesOptions } from '../../src/sources/machines/options.ts';
import type { Machine, Machines } from '../../src/sources/machines/schema.ts';
import { ARRAYS, Fleet, type FleetOptions, type FleetRequest } from './fleet.ts';
import { machinesOptions } from './machine-records.ts';
import { Simulation } from './simulation.ts';
import { MINUTE, NOW } from './timing.ts';

/** What one sweep took and what it showed. */
export interface SweepSeen {
  /** Unix ms. */
  readonly start: number;
  readonly durationMs: number;
  readonly requests: readonly FleetRequest[];
  readonly machines: ReadonlyMap<string, Machine>;
  readonly ok: boolean;
}

export interface FleetRunOptions extends FleetOptions {
  readonly latencyMs?: number;
  readonly plan?: Plan;
  readonly options?: Partial<MachinesOptions>;
}

/** The sweeps of the real program between scheduler and wire on virtual time, against a fleet. */
export class FleetRun {
  readonly fleet: Fleet;
  readonly sim: Simulation;
  /** All so far. */
  readonly sweeps: SweepSeen[] = [];
  /** How the walks over pages ended that did not end well. */
  readonly warnings: string[] = [];

  constructor({ latencyMs = 50, plan = 'scale', options = {}, ...fleet }: FleetRunOptions) {
    this.fleet = new Fleet(fleet);
    this.sim = new Simulation({
      start: NOW,
      latencyMs,
      sandbox: { plan, machines: 0 },
      sources: [machinesSource(machinesOptions(options), (ending) => this.warnings.push(ending))],
      instead: (_, body, now) => this.fleet.answer(JSON.parse(body), now),
    });
  }

  get now(): number {
    return this.sim.clock.now();
  }

  /** Answers other than 200. */
  get refused(): number {
    return this.sim.exchanges.filter(({ status }) => status !== 200).length;
  }

  /** Lets time pass until so many more sweeps were published; returns those. */
  async sweep(count: number): Promise<SweepSeen[]> {
    const before = this.sweeps.length;
    while (this.sweeps.length < before + count) await this.advance(1_000);
    return this.sweeps.slice(before);
  }

  /** Lets time pass, at most a second at once, so that no sweep is passed over. */
  async advance(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1_000) {
      await this.sim.clock.advance(Math.min(1_000, left));
      const { entry } = this.sim.view('machines');
      const { lastAttemptAt: start, durationMs } = entry;
      if (start === undefined || start === this.sweeps.at(-1)?.start) continue;
      const during = ({ at }: { at: number }): boolean => at >= start && at <= start + durationMs;
      this.sweeps.push({
        start,
        durationMs,
        requests: this.fleet.requests.filter(during).map(({ body }) => body),
        machines: new Map((entry.value as Machines).machines.map((machine) => [machine.name, machine])),
        ok: entry.failuresInARow === 0,
      });
    }
  }
}

/** The most requests of a sweep in steady state, where a page counts per array. */
export function boundOf(live: number): number {
  const pages = 1.25 * Math.ceil(live / 10);
  return pages + Math.max(2, 0.04 * pages);
}

const WINDOW_MS = 75_000;

/** Which records of the last 75 s a sweep has not brought, and which live machines it shows older than it may. */
export function missedBy(fleet: Fleet, { start, machines }: SweepSeen, staleMs = 10 * MINUTE): string[] {
  const missed: string[] = [];
  for (const name of fleet.names) {
    const held = machines.get(name);
    let lastSeen = 0;
    let newest = 0;
    for (const array of ARRAYS) {
      const time = fleet.newest(name, array, start) ?? 0;
      const heldTime = (held?.[array]?.timestamp ?? 0) * 1_000;
      newest = Math.max(newest, time);
      lastSeen = Math.max(lastSeen, heldTime);
      if (start - time < WINDOW_MS && heldTime < time) missed.push(`${name} ${array}: a record of the last 75 s`);
    }
    const isLive = start - newest <= staleMs;
    if (isLive && lastSeen < newest && start - lastSeen > staleMs / 2) missed.push(`${name}: the newest record`);
  }
  return missed;
}

/** Where a later sweep holds an older record than an earlier one, or values that did not come with it. */
export function setBack(sweeps: readonly SweepSeen[]): string[] {
  const found: string[] = [];
  const newest = new Map<string, number>();
  for (const { machines } of sweeps) {
    for (const machine of machines.values()) {
      for (const array of ARRAYS) {
        const record = machine[array];
        if (!record) continue;
        const id = `${machine.name} ${array}`;
        if (record.timestamp < (newest.get(id) ?? 0)) found.push(`${id}: older`);
        newest.set(id, record.timestamp);
        const value = 'client_name' in record ? undefined : Object.values(record).at(-1);
        if (value !== Math.floor(record.timestamp)) found.push(`${id}: ${value} at ${record.timestamp}`);
      }
    }
  }
  return found;
}
