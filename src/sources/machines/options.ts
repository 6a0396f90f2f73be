import type { Chain } from '../../facts/chain.ts';
import type { Time } from '../../toolkit/lib/held-time.ts';
import { readableText } from '../../toolkit/lib/text.ts';
import type { MachinesConfig } from './config.ts';
import { chainInStep } from './learned.ts';
import { lastSeen, type Machine } from './state.ts';

export interface MachinesOptions extends Omit<MachinesConfig, 'enabled'> {
  /** Each gets a sample of `beaconchain_machines`, also without machines. */
  readonly chains: readonly Chain[];
  /** config `groups`, with names and patterns of machines. */
  readonly groups: readonly { readonly name: string; readonly machines: readonly string[] }[];
}

export const JITTER = 0.1;

/** The likely requests of a sweep. A page has ten records, and a sweep reads 75 s of a record a minute. */
export function assumedCost({ expected }: Pick<MachinesOptions, 'expected'>): number {
  return Math.max(1, Math.ceil(expected.length / 8));
}

/** The label of a machine, whose name can be empty in the API. */
export function machineName(raw: string | null | undefined): string {
  return raw ? readableText(raw) : 'unnamed';
}

export function isIncluded(options: MachinesOptions, name: string): boolean {
  if (options.exclude.includes(name)) return false;
  return options.include.length === 0 || options.include.includes(name) || options.expected.includes(name);
}

export function chainOf(options: MachinesOptions, machine: Pick<Machine, 'name' | 'learned'>): Chain {
  const rule = ruleOf(options, machine.name);
  if (rule) return rule.chain;
  if (options.chain !== 'auto') return options.chain;
  return machine.learned?.chain ?? options.chains[0] ?? 'mainnet';
}

/** Whether a rule or the machine's own node determines the chain, and the node does not contradict the label. */
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

/** The group that names the machine, otherwise the first with a matching pattern. */
export function groupOf({ groups }: MachinesOptions, name: string): string | undefined {
  const named = groups.find(({ machines }) => machines.includes(name));
  return (named ?? groups.find(({ machines }) => machines.some((pattern) => isMatch(pattern, name))))?.name;
}

/** Matches a pattern against the whole name: `*` is any text. */
export function isMatch(pattern: string, name: string): boolean {
  return new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`, 's').test(name);
}

/** Whether the machine is included, and its newest record is not too old even for last_seen. */
export function isKept(options: MachinesOptions, machine: Machine, { held }: Time): boolean {
  return isIncluded(options, machine.name) && held - lastSeen(machine) * 1000 <= options.forgetAfterMs;
}
