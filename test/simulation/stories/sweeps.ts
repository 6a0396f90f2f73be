import type { Fleet, Keeping } from '../../../src/sandbox/machines.ts';
import { PROCESSES, type Process } from '../../../src/sandbox/machines-records.ts';
import type { MetricsRequest } from '../../support/answers/machine-records.ts';
import { MINUTE, SECOND } from '../../support/time/timing.ts';
import { unescaped } from '../scrape.ts';
import { type CountingFleetOptions, countingFleet, newestOf } from '../service/fleet.ts';
import { Played } from './played.ts';

const OFF = { enabled: false };
export const MACHINES_ONLY = { slashings: OFF, daily_returns: OFF, sync_committee: OFF };
const STEP_MS = 4 * SECOND;
/** A sweep is shown so soon after its last request, which may time out. */
const SHOWN_WITHIN_MS = 20 * SECOND;

/** The newest records of a machine that are shown, Unix ms. */
type Shown = Readonly<Partial<Record<Process, number>>>;

/** One sweep: what it cost and what it showed. */
export interface Sweep {
  /** Start of the sweep, Unix ms. */
  readonly start: number;
  readonly durationMs: number;
  readonly requests: readonly MetricsRequest[];
  readonly machines: ReadonlyMap<string, Shown>;
  readonly ok: boolean;
}

export interface FleetOptions extends CountingFleetOptions {
  readonly latencyMs?: number;
  /** `machines` of the configuration file. */
  readonly config?: object;
}

/** A story of a fleet alone on a large plan, which notes every sweep. */
export class PlayedFleet extends Played {
  /** All sweeps, in order. */
  readonly sweeps: Sweep[] = [];
  #lastStart = 0;

  constructor({ latencyMs = 50, config = {}, ...fleet }: FleetOptions) {
    super({
      latency: { low: latencyMs, high: latencyMs },
      sandbox: { plan: 'scale', machines: countingFleet(fleet) },
      file: { ...MACHINES_ONLY, machines: config },
    });
  }

  get fleet(): Fleet {
    return this.sandbox.fleet;
  }

  get names(): string[] {
    return [...this.fleet.machines.keys()];
  }

  /** Lets time pass until this many more sweeps are shown. Returns them. */
  async sweep(count: number): Promise<Sweep[]> {
    const before = this.sweeps.length;
    while (this.sweeps.length < before + count) await this.advance(STEP_MS);
    return this.sweeps.slice(before);
  }

  /** Looks every four seconds. */
  override async until(end: number): Promise<void> {
    while (this.now < end) {
      await super.until(Math.min(this.now + STEP_MS, end));
      this.#look();
    }
  }

  #look(): void {
    const asked = this.requests.at(-1)?.at ?? 0;
    if (this.now - asked > SHOWN_WITHIN_MS) return;
    const ofSource = (what: string): number => this.shown(`source_${what}{source="machines"}`) ?? 0;
    const start = Math.round(ofSource('last_attempt_timestamp_seconds') * 1_000);
    if (start === this.#lastStart) return;
    this.#lastStart = start;
    const durationMs = Math.round(ofSource('duration_seconds') * 1_000);
    const sent = this.requests.filter(
      ({ at, endpoint }) => at >= start && at <= start + durationMs && endpoint === 'machine_metrics',
    );
    const requests = sent.map(({ request }) => JSON.parse(request.body ?? ''));
    this.sweeps.push({ start, durationMs, requests, machines: this.#machines(), ok: ofSource('up') === 1 });
  }

  #machines(): Map<string, Shown> {
    const machines = new Map<string, Shown>();
    for (const [labels, at] of this.family('machine_last_seen_timestamp_seconds')) {
      const [, name = '', process = ''] = /machine="(.*)",process="(\w+)"$/.exec(labels) ?? [];
      machines.set(unescaped(name), { ...machines.get(unescaped(name)), [process]: Math.round(at * 1_000) });
    }
    return machines;
  }

  /** What should not be: refused requests, and warnings of anything but failed polls. */
  get complaints(): unknown[] {
    const warned = this.log.filter(({ level, msg }) => level === 'warn' && msg !== 'poll failed');
    return [...this.statuses.filter((status) => status !== 200), ...warned];
  }
}

/** The largest number of requests of a sweep in a steady state, except that of each hour which looks for late records. */
export function boundOf(live: number, pageSizeOver: Keeping['pageSizeOver'] = 'each'): number {
  return (1.3 * Math.ceil(live / 10) + 2) * (pageSizeOver === 'each' ? 1 : 3);
}

/** How old values may become, which follows the interval, ms. */
export function staleMsOf(story: Played): number {
  const interval = story.shown('source_interval_seconds{source="machines"}') ?? 0;
  return Math.max(10 * MINUTE, 2 * SECOND * interval + 3 * MINUTE);
}

/**
 * What a sweep has missed. It must bring every record since the start of the sweep before. For a known, live machine it
 * must bring the newest record, unless the known one is younger than half of `staleMs`.
 */
export function missedBy(fleet: Fleet, before: Sweep | undefined, sweep: Sweep, staleMs: number): string[] {
  const { start, machines } = sweep;
  const since = Math.min(start - (before?.start ?? 0), 73_000);
  const missed: string[] = [];
  for (const name of fleet.machines.keys()) {
    const held = machines.get(name);
    let newest = 0;
    for (const process of PROCESSES) {
      const time = newestOf(fleet, name, process, start) ?? 0;
      newest = Math.max(newest, time);
      if (start - time < since && (held?.[process] ?? 0) < time) missed.push(`${name} ${process}`);
    }
    const seen = lastSeenOf(held);
    const isDue = before?.machines.has(name) && start - lastSeenOf(before.machines.get(name)) <= staleMs;
    if (isDue && seen < newest && start - seen > staleMs / 2) missed.push(name);
  }
  return missed;
}

/** Known machines that a sweep shows as silent, although the service had a younger record when it began. */
export function calledSilent(fleet: Fleet, { start, machines }: Sweep, silentMs: number): string[] {
  return [...machines].flatMap(([name, machine]) => {
    const seen = lastSeenOf(machine);
    const isYounger = PROCESSES.some((process) => (newestOf(fleet, name, process, start) ?? 0) > seen);
    return start - seen > silentMs && isYounger ? [`${name}: ${(start - seen) / 1_000} s`] : [];
  });
}

/** Time of the newest record, Unix ms; 0 without a record. */
export function lastSeenOf(machine: Shown | undefined): number {
  return Math.max(0, ...Object.values(machine ?? {}));
}
