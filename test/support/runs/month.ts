import { type Config, sourcesOf } from '../../../src/sources/registry.ts';
import type { Source } from '../../../src/sources/source.ts';
import { HOUR } from '../time/timing.ts';
import { defaultConfig } from './default-config.ts';
import { SandboxRun, type SandboxRunOptions } from './sandbox-run.ts';

/** The sources of the default configuration with these changes. */
export function configured(overrides: Partial<Config> = {}): Source[] {
  return sourcesOf({ ...defaultConfig(), ...overrides });
}

/** The service of a trial with three machines. */
export const TRIAL = { plan: 'free_trial', machines: 3, slotsPerSlashing: Number.POSITIVE_INFINITY } as const;

interface MonthOptions extends SandboxRunOptions {
  readonly hours: number;
  /** Runs before each hour. */
  readonly eachHour?: (run: SandboxRun, hour: number) => void;
}

/** Runs the program for many hours of virtual time. */
export async function runMonth({ hours, eachHour, ...options }: MonthOptions) {
  const run = new SandboxRun({ sleepsLong: true, ...options });
  const withdrawn: string[] = [];
  for (let hour = 0; hour < hours; hour += 1) {
    eachHour?.(run, hour);
    await run.clock.advance(HOUR);
    withdrawn.push(...missing(run).map((name) => `${hour}: ${name}`));
  }
  await run.stop();
  const refused = run.exchanges.filter(({ status }) => status === 429);
  return {
    run,
    /** The number of refused requests, by the exceeded window. */
    refused: countBy(refused, ({ headers }) => headers['ratelimit-window'] ?? 'unknown'),
    /** The longest time between two answers for the machines, hours. Start and end of the run count as answers. */
    longestGap: longestGapOf(run, options.start, options.start + hours * HOUR),
    /** `hour: machine` for each hour at whose end a live machine was not shown. */
    withdrawn,
  };
}

/** Machines whose values are shown. */
export function shownMachines(run: SandboxRun): (string | undefined)[] {
  const { source, entry, timing, inputs } = run.view('machines');
  const families = source.metrics(entry.value, timing, inputs);
  const shown = families.find(({ name }) => name === 'beaconchain_machine_cpu_cores')?.samples ?? [];
  return shown.map(({ labels }) => labels['machine']);
}

/** Machines that push but are not shown. */
function missing(run: SandboxRun): string[] {
  const names = new Set(shownMachines(run));
  const living = [...run.sandbox.fleet.machines.values()].filter(
    ({ spans }) => spans.at(-1)?.until === Number.POSITIVE_INFINITY,
  );
  return living.map(({ name }) => name).filter((name) => !names.has(name));
}

function longestGapOf({ exchanges }: SandboxRun, start: number, end: number): number {
  const answers = exchanges.filter(({ path, status }) => path.endsWith('/machine-metrics') && status === 200);
  const times = [start, ...answers.map(({ at }) => at), end];
  return Math.max(...times.slice(1).map((at, i) => (at - (times[i] ?? at)) / HOUR));
}

function countBy<T>(items: readonly T[], key: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[key(item)] = (counts[key(item)] ?? 0) + 1;
  return counts;
}
