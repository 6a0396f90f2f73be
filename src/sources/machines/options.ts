import type { Chain } from '../../facts/chain.ts';
import { autoStaleAfter } from '../../facts/stale-after.ts';
import { readableText } from '../../toolkit/lib/text.ts';
import type { Milliseconds, UnixMs } from '../../toolkit/lib/time.ts';
import type { Timing } from '../source.ts';
import { chainInStep } from './learned.ts';
import { lastSeen, type Machine } from './schema.ts';

export interface MachinesOptions {
  readonly intervalMs: Milliseconds;
  readonly weight: number;
  readonly staleAfterMs: Milliseconds | 'auto';
  readonly forgetAfterMs: Milliseconds;
  readonly expected: readonly string[];
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly max: number;
  /** The configured chains. Each gets a `beaconchain_machines` sample, also without machines. */
  readonly chains: readonly Chain[];
  readonly chain: Chain | 'auto';
  readonly chainRules: readonly { readonly match: string; readonly chain: Chain }[];
  /** config `groups`, with names and patterns of machines. */
  readonly groups: readonly { readonly name: string; readonly machines: readonly string[] }[];
}

/** The label of a machine whose name is empty in the API. */
const UNNAMED = 'unnamed';

export function machineName(raw: string | null | undefined): string {
  return raw ? readableText(raw) : UNNAMED;
}

export function isIncluded(options: MachinesOptions, name: string): boolean {
  if (options.exclude.includes(name)) return false;
  return options.include.length === 0 || options.include.includes(name) || options.expected.includes(name);
}

/**
 * The chain label: of the first rule whose pattern matches the whole name, else as configured for all machines,
 * else that of the machine's own node, else the first configured chain.
 */
export function chainOf(options: MachinesOptions, machine: Pick<Machine, 'name' | 'learned'>): Chain {
  const rule = ruleOf(options, machine.name);
  if (rule) return rule.chain;
  if (options.chain !== 'auto') return options.chain;
  return machine.learned?.chain ?? options.chains[0] ?? 'mainnet';
}

/** Whether a rule or the own node tells the chain. Nodes of two chains under one name contradict each other's label. */
export function isChainKnown(options: MachinesOptions, machine: Pick<Machine, 'name' | 'learned' | 'node'>): boolean {
  const { learned, node } = machine;
  const { timestamp: at = 0, sync_beacon_head_slot: slot } = node ?? {};
  const chains = [learned?.chain, slot == null ? undefined : chainInStep({ at, slot })];
  if (chains.some((chain) => chain !== undefined && chain !== chainOf(options, machine))) return false;
  return learned?.chain !== undefined || ruleOf(options, machine.name) !== undefined;
}

function ruleOf({ chainRules }: MachinesOptions, name: string): MachinesOptions['chainRules'][number] | undefined {
  return chainRules.find(({ match }) => isMatch(match, name));
}

/** The group that names the machine, else the first with a pattern that matches. */
export function groupOf({ groups }: MachinesOptions, name: string): string | undefined {
  const named = groups.find(({ machines }) => machines.includes(name));
  return (named ?? groups.find(({ machines }) => machines.some((pattern) => isMatch(pattern, name))))?.name;
}

/** Matches a pattern against the whole name: `*` is any text. */
export function isMatch(pattern: string, name: string): boolean {
  return new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`, 's').test(name);
}

/** The age beyond which values are withdrawn. `auto` follows the effective interval, which a scarce budget stretches. */
export function staleAfter(options: MachinesOptions, timing: Timing): Milliseconds {
  if (options.staleAfterMs !== 'auto') return options.staleAfterMs;
  return autoStaleAfter(timing.intervalMs);
}

/** Whether the machine is wanted, and its newest record is not too old even for last_seen. */
export function isKept(options: MachinesOptions, machine: Machine, now: UnixMs): boolean {
  return isIncluded(options, machine.name) && now - lastSeen(machine) * 1000 <= options.forgetAfterMs;
}
