import type { Config } from '../../../src/config/config.ts';
import { sourcesOf } from '../../../src/exporter/sources.ts';
import { sourceId } from '../../../src/scheduler/entry.ts';
import type { Source } from '../../../src/sources/source.ts';
import { HOUR } from '../time/timing.ts';
import { defaultConfig } from './default-config.ts';
import { SandboxRun, type SandboxRunOptions } from './sandbox-run.ts';

/** The sources of the default configuration with these changes. */
export function configured(overrides: Partial<Config> = {}): Source[] {
  return sourcesOf({ ...defaultConfig(), ...overrides });
}

export interface Month {
  readonly run: SandboxRun;
  readonly requests: number;
  /** The number of refused requests, by the exceeded window. */
  readonly refused: Readonly<Record<string, number>>;
  /** The longest time between two answers to a source, hours. Start and end of the run count as answers. */
  readonly longestGap: Readonly<Record<string, number>>;
  /** `hour: machine` for each hour at whose end a live machine was not shown. */
  readonly withdrawn: readonly string[];
}

interface MonthOptions extends SandboxRunOptions {
  readonly hours: number;
  /** Runs before each hour. */
  readonly eachHour?: (run: SandboxRun, hour: number) => void;
}

/** Runs the program for many hours of virtual time. */
export async function runMonth({ hours, eachHour, ...options }: MonthOptions): Promise<Month> {
  const run = new SandboxRun({ sleepsLong: true, ...options });
  const withdrawn: string[] = [];
  for (let hour = 0; hour < hours; hour += 1) {
    eachHour?.(run, hour);
    await run.clock.advance(HOUR);
    withdrawn.push(...missing(run).map((name) => `${hour}: ${name}`));
  }
  await run.stop();
  const refused = run.exchanges.filter(({ status }) => status === 429);
  const answers = answersBySource(run, options.start, hours);
  return {
    run,
    requests: run.exchanges.length,
    refused: countBy(refused, ({ headers }) => headers['ratelimit-window'] ?? 'unknown'),
    longestGap: longestOf(answers),
    withdrawn,
  };
}

/** Machines that push but are not shown. */
function missing(run: SandboxRun): string[] {
  const machines = run.view('machines');
  const families = machines.source.families(machines.entry.value, machines.timing);
  const shown = families.find(({ name }) => name === 'beaconchain_machine_cpu_cores')?.samples ?? [];
  const names = new Set(shown.map(({ labels }) => labels['machine']));
  const living = [...run.sandbox.fleet.machines.values()].filter(({ silence }) => silence === undefined);
  return living.map(({ name }) => name).filter((name) => !names.has(name));
}

/** The times of the answers to each source, and start and end of the run. */
function answersBySource(run: SandboxRun, start: number, hours: number): Map<string, number[]> {
  const times = new Map(run.scheduler.views().map(({ source }) => [sourceId(source), [start]]));
  for (const { at, path, body, status } of run.exchanges) {
    if (status === 200) times.get(idOf(path, body))?.push(at);
  }
  for (const all of times.values()) all.push(start + hours * HOUR);
  return times;
}

function longestOf(answers: ReadonlyMap<string, readonly number[]>): Record<string, number> {
  const hours = (all: readonly number[]): number[] => all.slice(1).map((at, i) => (at - (all[i] ?? at)) / HOUR);
  return Object.fromEntries([...answers].map(([id, all]) => [id, Math.max(...hours(all))]));
}

/** The source that sends this request. */
function idOf(path: string, body: string): string {
  if (path.endsWith('/machine-metrics')) return 'machines';
  const chain = /"chain":"(\w+)"/.exec(body)?.[1] ?? (path.startsWith('/hoodi/') ? 'hoodi' : 'mainnet');
  if (path.includes('/v1/')) return `slashings-${chain}`;
  return `${path.endsWith('/sync-committee') ? 'sync_committee' : 'daily_returns'}-${chain}`;
}

function countBy<T>(items: readonly T[], key: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[key(item)] = (counts[key(item)] ?? 0) + 1;
  return counts;
}
