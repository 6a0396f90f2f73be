import * as z from 'zod';
import { CHAIN_NAMES } from '../../facts/chain.ts';
import { enabled, names } from '../../facts/fields.ts';
import { formatDuration, MS_PER_MINUTE } from '../../toolkit/lib/duration.ts';
import type { Milliseconds } from '../../toolkit/lib/time.ts';
import { autoOrDuration, count, duration, either, optional, SECOND, section } from '../../toolkit/yaml/fields.ts';
import type { Finding } from '../../toolkit/yaml/mistakes.ts';

export const schema = optional(
  section({
    enabled,
    interval: duration(SECOND).prefault('1m').describe('The polling interval. The budget may stretch it.'),
    stale_after: autoOrDuration(SECOND)
      .prefault('auto')
      .describe('The age at which values are withdrawn. auto: the longer of 10m and 2 x effective interval + 3m.'),
    forget_after: duration(SECOND).prefault('31d').describe('The age at which last_seen is withdrawn too.'),
    expected: names.prefault([]).describe('Machines that must exist. Their last_seen is 0 until they are seen.'),
    include: names.prefault([]).describe('Show only these machines and the expected ones.'),
    exclude: names.prefault([]).describe('Machines out of service: no series, no alerts.'),
    max: count.prefault(10_000).describe('Machines beyond this number are dropped and counted.'),
    chain: z
      .enum(['auto', ...CHAIN_NAMES], { error: either(['auto', ...CHAIN_NAMES]) })
      .prefault('auto')
      .describe(
        "The chain of machines that match no rule. auto: that of the machine's own node, and the first chain until it is known.",
      ),
    chain_rules: z
      .array(
        section({
          match: z.string({ error: 'a pattern such as "hoodi-*"' }).describe('A machine name; * matches any text.'),
          chain: z.enum(CHAIN_NAMES, { error: either(CHAIN_NAMES) }).describe('The chain of the matching machines.'),
        }),
        { error: 'a list such as [{match: "hoodi-*", chain: hoodi}]' },
      )
      .prefault([])
      .describe('Rules that assign machines to chains. The first match applies.'),
  }).transform(({ interval, stale_after, forget_after, chain_rules, ...others }) => ({
    ...others,
    intervalMs: interval,
    staleAfterMs: stale_after,
    forgetAfterMs: forget_after,
    chainRules: chain_rules,
  })),
).describe('The machines that your clients report to the service.');

export const chains = ['machines.chain', 'machines.chain_rules.*.chain'];
export const machineNames = ['expected.*', 'include.*', 'exclude.*', 'chain_rules.*.match'].map(
  (path) => `machines.${path}`,
);

export type MachinesConfig = z.output<typeof schema>;
type Given<K extends keyof MachinesConfig> = Readonly<Pick<MachinesConfig, K>>;

export function doubts({ machines }: { readonly machines: MachinesConfig }): Finding[] {
  if (!machines.enabled) return [];
  const about = (list: 'expected' | 'include' | 'exclude', isOdd: (name: string) => boolean, why: string): Finding[] =>
    machines[list].flatMap((name, i) =>
      isOdd(name) ? [{ path: ['machines', list, i], message: `"${name}" is ${why}` }] : [],
    );
  const patterns = (['expected', 'include', 'exclude'] as const).flatMap((list) =>
    about(list, (name) => name.includes('*'), 'a name: only chain_rules and groups support patterns'),
  );
  const isExcluded = (name: string): boolean => machines.exclude.includes(name);
  const excluded = about('expected', isExcluded, 'also in machines.exclude: it has no series and no alerts');
  return [...patterns, ...excluded, ...ageDoubts(machines)];
}

/** The age at which values are withdrawn. `auto` follows the effective interval, which a scarce budget stretches. */
export function staleAfter({ staleAfterMs }: Given<'staleAfterMs'>, { intervalMs }: Given<'intervalMs'>): Milliseconds {
  return staleAfterMs === 'auto' ? Math.max(10 * MS_PER_MINUTE, 2 * intervalMs + 3 * MS_PER_MINUTE) : staleAfterMs;
}

function ageDoubts(machines: MachinesConfig): Finding[] {
  const { intervalMs, forgetAfterMs } = machines;
  const stale = staleAfter(machines, machines);
  const [interval, after, forget] = [intervalMs, stale, forgetAfterMs].map(formatDuration);
  const withdrawn = `${after} is less than machines.interval (${interval}) plus the minute between two pushes: values are withdrawn between polls`;
  const forgotten = `${forget} is not longer than the ${after} of machines.stale_after: a silent machine disappears before an alert fires`;
  return [
    ...(stale < intervalMs + MS_PER_MINUTE ? [{ path: ['machines', 'stale_after'], message: withdrawn }] : []),
    ...(forgetAfterMs <= stale ? [{ path: ['machines', 'forget_after'], message: forgotten }] : []),
  ];
}
