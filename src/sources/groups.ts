import * as z from 'zod';
import { CHAIN_NAMES } from '../facts/chain.ts';
import { names, type WatchPerChain, watchList } from '../facts/fields.ts';
import { nameOf, type Watch } from '../facts/watch.ts';
import { optional, section } from '../toolkit/yaml/fields.ts';
import type { Finding } from '../toolkit/yaml/mistakes.ts';

const Group = section({
  machines: names.prefault([]).describe('Its machines; * matches any text. A name comes before a pattern.'),
  validators: watchList.describe('Its validators, as in validators.watch. They are watched.'),
});

export const schema = optional(
  z
    .record(z.string().min(1), Group, {
      error: 'a mapping of groups such as {home: {machines: [node-a], validators: [12345]}}',
    })
    .transform((groups) => Object.entries(groups).map(([name, group]) => ({ name, ...group }))),
).describe('Sites, operators or clients, by name, for the label group: docs/validators.md.');

export const machineNames = ['groups.*.machines.*'];

/** The watched validators of a group. Absent `keys`: none. */
export type GroupWatch = Pick<WatchPerChain, 'watch'> & Partial<Pick<WatchPerChain, 'keys'>>;

type Group = GroupWatch & { readonly name: string; readonly machines: readonly string[] };

/** Validators and names of machines that are in two groups. */
export function findings({ groups }: { readonly groups: readonly Group[] }): Finding[] {
  return groups.flatMap(({ name, machines, watch, keys }, i) =>
    groups.slice(0, i).flatMap((before) => {
      const twice = (path: readonly (string | number)[], what: string): Finding => ({
        path: ['groups', name, ...path],
        message: `${what} is in the groups ${before.name} and ${name}, expected it in one of them`,
      });
      const validators = CHAIN_NAMES.flatMap((chain) => firstOfBoth(before.watch[chain], watch[chain]) ?? []);
      const ofBoth = CHAIN_NAMES.flatMap((chain) => [
        ...new Set(keys?.[chain]).intersection(new Set(before.keys?.[chain])),
      ]);
      return [
        ...[...validators, ...ofBoth.slice(0, 1)].map((one) => twice(['validators'], `validator ${nameOf(one)}`)),
        ...machines.flatMap((one, at) =>
          before.machines.includes(one) ? [twice(['machines', at], `machine ${JSON.stringify(one)}`)] : [],
        ),
      ];
    }),
  );
}

function firstOfBoth(some: Watch, others: Watch): number | undefined {
  for (const { first, last } of some) {
    const other = others.find((one) => one.first <= last && one.last >= first);
    if (other) return Math.max(first, other.first);
  }
  return undefined;
}
