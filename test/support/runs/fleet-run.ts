import type { Fleet, Keeping } from '../../../src/sandbox/machines.ts';
import { PROCESSES } from '../../../src/sandbox/machines-records.ts';
import { lastOf } from '../../../src/scheduler/schedules.ts';
import { machinesSource } from '../../../src/sources/machines/index.ts';
import type { MachinesOptions } from '../../../src/sources/machines/options.ts';
import type { Machine, Machines } from '../../../src/sources/machines/state.ts';
import type { SourceEvent } from '../../../src/sources/read.ts';
import { type MetricsRequest, machinesOptions } from '../answers/machine-records.ts';
import { type CountingFleetOptions, countingFleet, newestOf } from '../model/fleet.ts';
import { NOW } from '../time/timing.ts';
import { SandboxRun } from './sandbox-run.ts';

/** One sweep: what it cost and what it showed. */
export interface SweepSeen {
  /** Start of the sweep, Unix ms. */
  readonly start: number;
  readonly durationMs: number;
  readonly requests: readonly MetricsRequest[];
  readonly machines: ReadonlyMap<string, Machine>;
  readonly ok: boolean;
}

export interface FleetRunOptions extends CountingFleetOptions {
  readonly latencyMs?: number;
  readonly options?: Partial<MachinesOptions>;
}

/** Lets the real program, from scheduler to client, sweep a fleet on virtual time. */
export class FleetRun {
  readonly fleet: Fleet;
  readonly program: SandboxRun;
  /** All sweeps, in order. */
  readonly sweeps: SweepSeen[] = [];
  readonly warnings: SourceEvent[] = [];
  #lastStart: number | undefined;

  constructor({ latencyMs = 50, options = {}, ...fleet }: FleetRunOptions) {
    this.fleet = countingFleet(fleet);
    this.program = new SandboxRun({
      start: NOW,
      latencyMs,
      onEvent: (_, event) => this.warnings.push(event),
      sandbox: { plan: 'scale', machines: this.fleet },
      sources: [machinesSource(machinesOptions(options))],
    });
  }

  get names(): string[] {
    return [...this.fleet.machines.keys()];
  }

  get now(): number {
    return this.program.clock.now();
  }

  /** The number of answers with a status other than 200. */
  get refused(): number {
    return this.program.exchanges.filter(({ status }) => status !== 200).length;
  }

  /** @throws RangeError if the service refused a request, or the program warned of machines. */
  async stop(): Promise<void> {
    await this.program.stop();
    if (this.refused > 0 || this.warnings.length > 0) throw new RangeError(JSON.stringify(this.warnings));
  }

  /** Lets time pass until this many more sweeps are published. Returns them. */
  async sweep(count: number): Promise<SweepSeen[]> {
    const before = this.sweeps.length;
    while (this.sweeps.length < before + count) await this.advance(1_000);
    return this.sweeps.slice(before);
  }

  /** Lets time pass in steps of a second, so that it notes every sweep. */
  async advance(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1_000) {
      await this.program.clock.advance(Math.min(1_000, left));
      const view = this.program.view('machines');
      const { lastAttemptAt: start, durationMs, failuresInARow } = lastOf(view);
      if (start === undefined || start === this.#lastStart) continue;
      this.#lastStart = start;
      const requests = this.program.exchanges.filter(
        ({ at, path }) => at >= start && at <= start + durationMs && path.endsWith('/machine-metrics'),
      );
      this.sweeps.push({
        start,
        durationMs,
        requests: requests.map(({ body }) => JSON.parse(body)),
        machines: new Map((view.entry.value as Machines).machines.map((machine) => [machine.name, machine])),
        ok: failuresInARow === 0,
      });
    }
  }
}

/** The largest number of requests of a sweep in a steady state, except that of each hour which looks for late records. */
export function boundOf(live: number, pageSizeOver: Keeping['pageSizeOver'] = 'each'): number {
  return (1.3 * Math.ceil(live / 10) + 2) * (pageSizeOver === 'each' ? 1 : 3);
}

/**
 * What a sweep has missed. It must bring every record since the start of the sweep before. For a known, live machine it
 * must bring the newest record, unless the known one is younger than half of `staleMs`.
 */
export function missedBy(fleet: Fleet, before: SweepSeen | undefined, sweep: SweepSeen, staleMs: number): string[] {
  const { start, machines } = sweep;
  const since = Math.min(start - (before?.start ?? 0), 73_000);
  const missed: string[] = [];
  for (const name of fleet.machines.keys()) {
    const held = machines.get(name);
    let newest = 0;
    for (const process of PROCESSES) {
      const time = newestOf(fleet, name, process, start) ?? 0;
      newest = Math.max(newest, time);
      if (start - time < since && (held?.[process]?.timestamp ?? 0) * 1_000 < time) missed.push(`${name} ${process}`);
    }
    const seen = lastSeenOf(held);
    const isDue = before?.machines.has(name) && start - lastSeenOf(before.machines.get(name)) <= staleMs;
    if (isDue && seen < newest && start - seen > staleMs / 2) missed.push(name);
  }
  return missed;
}

/** Known machines that a sweep shows as silent, although the service had a younger record when it began. */
export function calledSilent({ fleet }: FleetRun, { start, machines }: SweepSeen, silentMs: number): string[] {
  return [...machines.values()].flatMap((machine) => {
    const seen = lastSeenOf(machine);
    const isYounger = PROCESSES.some((process) => (newestOf(fleet, machine.name, process, start) ?? 0) > seen);
    return start - seen > silentMs && isYounger ? [`${machine.name}: ${(start - seen) / 1_000} s`] : [];
  });
}

/** Time of the newest record, Unix ms; 0 without a record. */
export function lastSeenOf(machine: Machine | undefined): number {
  return Math.max(...PROCESSES.map((process) => (machine?.[process]?.timestamp ?? 0) * 1_000));
}
