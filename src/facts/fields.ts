import * as z from 'zod';
import { duration, flag, optional, SECOND, section } from '../toolkit/yaml/fields.ts';
import type { Finding } from '../toolkit/yaml/mistakes.ts';
import { CHAIN_NAMES, type Chain } from './chain.ts';
import { type Watch, watchOf } from './watch.ts';

/** A section of the config file: what `config.ts` of a source exports. C: the whole configuration. */
export interface ConfigSection<C = never> {
  readonly schema: z.ZodType;
  /** The paths of names of chains. `*`: any key or index. */
  readonly chains?: readonly string[];
  /** The paths of names of machines and patterns. */
  readonly machineNames?: readonly string[];
  /** The paths of lists of validators. */
  readonly lists?: readonly string[];
  /** Pure. Mistakes between valid values. */
  findings?(config: C): Finding[];
  /** Pure. Valid settings that do not work as intended. */
  doubts?(config: C): Finding[];
}

export function perChain<S extends z.ZodType>(schema: S, expected?: string) {
  const shape = Object.fromEntries(CHAIN_NAMES.map((chain) => [chain, schema])) as Record<Chain, S>;
  return section(shape, expected);
}

const name = z.string({ error: 'a name (in quotes if it looks like a number)' }).min(1, { error: 'a name' });
export const names = z.array(name, { error: 'a list of names' });

export const enabled = flag
  .prefault(true)
  .describe('false: the exporter sends no requests for this source and exposes no series of it.');

/** The section of a source whose data change about once a day. */
export const daily = optional(
  section({
    enabled,
    interval: duration(SECOND)
      .prefault('1h')
      .describe('How often to check whether new data are due. The budget may stretch it.'),
  }).transform(({ enabled, interval }) => ({ enabled, intervalMs: interval })),
);

/** The service uses the next number for an unknown proposer (api-facts 8.1). */
const MAX_INDEX = 2_147_483_646;

const RANGE = /^\d{1,15}(?:-\d{1,15})?$/;

/** An inclusive range of validator indices, from `12345` or `"20000-20099"`. */
const indexRange = z
  .union([z.int().min(0, { error: expectedIndex }), z.string().regex(RANGE, { error: expectedIndex })], {
    error: expectedIndex,
  })
  .transform((given) => {
    const [first = 0, last = first] = String(given).split('-').map(Number);
    return { first, last };
  })
  .refine(({ first, last }) => first <= last, { error: 'the start of the range is larger than its end' })
  .refine(({ last }) => last <= MAX_INDEX, { error: `expected validator indices of at most ${MAX_INDEX}` });

function expectedIndex({ input }: { readonly input?: unknown }): string {
  const isHex = typeof input === 'string' && /^(0x[\da-f]*|[\da-f]{96})$/i.test(input);
  return isHex
    ? 'validator indices, not public keys'
    : 'a validator index such as 12345 or a range such as "20000-20099"';
}

const ranges = z.array(indexRange, { error: 'a list of validator indices and ranges' });
export const watchList = z
  .union([ranges, perChain(ranges.optional())], {
    error: 'a list such as [12345, "20000-20099"], or one per chain such as {mainnet: [12345]}',
  })
  .prefault([]);

export type WatchPerChain = Readonly<Record<Chain, Watch>>;

/** The validators of all lists. A list without chains is for the only chain. */
export function watchPerChain(lists: readonly z.output<typeof watchList>[], only: Chain): WatchPerChain {
  const of = (chain: Chain) =>
    watchOf(lists.flatMap((list) => (Array.isArray(list) ? { [only]: list } : list)[chain] ?? []));
  return { mainnet: of('mainnet'), hoodi: of('hoodi') };
}
