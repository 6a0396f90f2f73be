import type { Chain } from '../../lib/chain.ts';
import { readableText } from '../../lib/text.ts';
import type { Timing } from '../source.ts';
import type { Machine, Process } from './schema.ts';

/** config `machines`, durations in milliseconds. */
export interface MachinesOptions {
  readonly intervalMs: number;
  readonly weight: number;
  readonly staleAfterMs: number | 'auto';
  readonly forgetAfterMs: number;
  readonly expected: readonly string[];
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly max: number;
  /** Chains that get a `beaconchain_machines` sample also without machines. */
  readonly chains: readonly Chain[];
  readonly chain: Chain;
  readonly chainRules: readonly { readonly match: string; readonly chain: Chain }[];
  readonly timestamps: boolean;
}

export const PROCESSES = ['system', 'validator', 'node'] as const satisfies readonly Process[];

/** The label of a machine the API calls "". */
const UNNAMED = 'unnamed';

/** The label value of a machine. */
export function machineName(raw: string | null | undefined): string {
  return raw ? readableText(raw) : UNNAMED;
}

export function isAdmitted(options: MachinesOptions, name: string): boolean {
  if (options.exclude.includes(name)) return false;
  return options.include.length === 0 || options.include.includes(name) || options.expected.includes(name);
}

/** The chain label: the first rule whose glob (`*`, `?`) matches the whole name, else the default. */
export function chainOf(options: MachinesOptions, name: string): Chain {
  return options.chainRules.find((rule) => globToRegExp(rule.match).test(name))?.chain ?? options.chain;
}

function globToRegExp(glob: string): RegExp {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 'su');
}

const SHORTEST_AUTO_STALE_MS = 600_000;

/** Age in ms from which values are withdrawn. `auto` follows the effective interval: a stretched budget stales nothing. */
export function staleAfter(options: MachinesOptions, timing: Timing): number {
  if (options.staleAfterMs !== 'auto') return options.staleAfterMs;
  return Math.max(SHORTEST_AUTO_STALE_MS, 2 * timing.intervalMs + 180_000);
}

/** Unix seconds of the newest record of any process; 0 without one. */
export function lastSeen(machine: Machine): number {
  return Math.max(...PROCESSES.map((process) => machine[process]?.timestamp ?? 0));
}

export function isForgotten(options: MachinesOptions, timestamp: number, now: number): boolean {
  return now - timestamp * 1000 > options.forgetAfterMs;
}
