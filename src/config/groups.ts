import { CHAIN_NAMES } from '../facts/chain.ts';
import type { Watch } from '../facts/watch.ts';
import type { Finding } from '../toolkit/yaml/mistakes.ts';
import type { Config } from './config.ts';

type Group = Config['groups'][number];

/** Validators and names of machines that are in two groups. */
export function groupFindings(groups: readonly Group[]): Finding[] {
  return groups.flatMap((group, i) =>
    groups.slice(0, i).flatMap((before) => [
      ...CHAIN_NAMES.flatMap((chain) => {
        const both = firstOfBoth(before.watch[chain], group.watch[chain]);
        return both === undefined ? [] : [twice(group, ['validators'], `validator ${both}`, before)];
      }),
      ...group.machines.flatMap((name, at) =>
        before.machines.includes(name)
          ? [twice(group, ['machines', at], `machine ${JSON.stringify(name)}`, before)]
          : [],
      ),
    ]),
  );
}

function twice({ name }: Group, at: readonly (string | number)[], what: string, before: Group): Finding {
  const message = `${what} is in the groups ${before.name} and ${name}, expected it in one of them`;
  return { path: ['groups', name, ...at], message };
}

function firstOfBoth(some: Watch, others: Watch): number | undefined {
  for (const { first, last } of some) {
    const other = others.find((one) => one.first <= last && one.last >= first);
    if (other) return Math.max(first, other.first);
  }
  return undefined;
}
