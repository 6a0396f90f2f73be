import * as z from 'zod';
import { duration, flag, optional, SECOND, section } from '../toolkit/yaml/fields.ts';
import type { Finding } from '../toolkit/yaml/mistakes.ts';
import { CHAIN_NAMES, type Chain } from './chain.ts';
import { type Watch, type WatchRange, watchOf } from './watch.ts';

/** A section of the config file: what `config.ts` of a source exports. C: the whole configuration. */
export interface ConfigSection<C = never> {
  readonly schema: z.ZodType;
  /** The paths of names of chains. `*`: any key or index. */
  readonly chains?: readonly string[];
  /** The paths of names of machines and patterns. */
  readonly machineNames?: readonly string[];
  /** The paths of lists of validators. */
  readonly lists?: readonly string[];
  /** A list of files, whose contents take the place of their paths. */
  readonly files?: ListedFiles;
  /** Pure. Mistakes between valid values. */
  findings?(config: C): Finding[];
  /** Pure. Valid settings that do not work as intended. */
  doubts?(config: C): Finding[];
}

export interface ListedFiles {
  readonly path: readonly [string, string];
  /** @param chains How many are configured. @throws an Error with a code if the file cannot be read */
  read(file: string, chains: number): Promise<{ readonly content: unknown; readonly findings: readonly Finding[] }>;
}

export function perChain<S extends z.ZodType>(schema: S, expected?: string) {
  const shape = Object.fromEntries(CHAIN_NAMES.map((chain) => [chain, schema])) as Record<Chain, S>;
  return section(shape, expected);
}

const name = z.string({ error: 'a name (in quotes if it looks like a number)' }).min(1, { error: 'a name' });
export const names = z.array(name, { error: 'a list of names' });

export const enabled = flag.prefault(true).describe('false: no requests, no series.');

/** The section of a source whose data change about once a day. */
export const daily = optional(
  section({
    enabled,
    interval: duration(SECOND).prefault('1h').describe('How often to check whether new data are due.'),
  }).transform(({ enabled, interval }) => ({ enabled, intervalMs: interval })),
);

/** The service uses the next number for an unknown proposer (api-facts 8.1). */
const MAX_INDEX = 2_147_483_646;
/** More validators than exist. A mistyped larger range would use up the memory. */
const MAX_RANGE = 10_000_000;

/** Of a validator. Keys and addresses become lower case, as the service writes them, so that they can be compared. */
export const PublicKey = hexOf(96);
/** Of an account on the execution layer. */
export const Address = hexOf(40, 'an address of 0x and 40 hex digits');

/** Without a regular expression flag, which a JSON Schema cannot have. */
function hexOf(digits: number, error?: string) {
  const pattern = new RegExp(`^0[xX][\\da-fA-F]{${digits}}$`);
  return z
    .string(error)
    .regex(pattern, error)
    .transform((text) => text.toLowerCase());
}

interface WatchKey {
  /** In lower case, as the service has it. */
  readonly key: string;
}
export type WatchItem = WatchRange | WatchKey;

/** An inclusive range of validator indices, from `12345` or `"20000-20099"`, or a public key. */
export const watchItem = z
  .union(
    [
      z.int({ error: expectedItem }).min(0, { error: expectedItem }),
      z.string().regex(/^\d{1,15}(?:-\d{1,15})?$/, { error: expectedItem }),
      PublicKey,
    ],
    { error: expectedItem },
  )
  .transform((given): WatchItem => {
    const text = String(given);
    if (text.startsWith('0x')) return { key: text };
    const [first = 0, last = first] = text.split('-').map(Number);
    return { first, last };
  })
  .refine((one) => isKey(one) || one.first <= one.last, { error: 'the start of the range is larger than its end' })
  .refine((one) => isKey(one) || one.last <= MAX_INDEX, {
    error: `expected validator indices of at most ${MAX_INDEX}`,
    abort: true,
  })
  .refine((one) => isKey(one) || one.last - one.first < MAX_RANGE, {
    error: `expected a range of at most ${MAX_RANGE} validators`,
  });

export function isKey(item: WatchItem): item is WatchKey {
  return 'key' in item;
}

function expectedItem({ input }: { readonly input?: unknown }): string {
  const [, prefix, digits = ''] = (typeof input === 'string' && /^(0x|)([\da-f]*)$/i.exec(input)) || [];
  if (prefix) return `a public key of 0x and 96 hexadecimal digits, not ${digits.length} digits`;
  if (digits.length === 96) return 'a public key with 0x before its 96 digits';
  return 'a validator index such as 12345, a range such as "20000-20099", or a public key of 0x and 96 hexadecimal digits';
}

const items = z.array(watchItem, { error: 'a list of validator indices, ranges and public keys' });
export const watchList = z
  .union([items, perChain(items.optional())], {
    error: 'a list such as [12345, "20000-20099"], or one per chain such as {mainnet: [12345]}',
  })
  .prefault([]);

type WatchList = z.output<typeof watchList> | readonly WatchItem[];
type PerChain<T> = Readonly<Record<Chain, T>>;

export interface WatchPerChain {
  readonly watch: PerChain<Watch>;
  /** The public keys, each once. */
  readonly keys: PerChain<readonly string[]>;
  /** Keys without a chain, if several chains are configured. Each chain has them in `keys` too. */
  readonly anywhere: readonly string[];
}

/** The validators of all lists. With several chains, only the keys of a list without chains count. */
export function watchPerChain(lists: readonly WatchList[], chains: readonly Chain[]): WatchPerChain {
  const only = chains.length > 1 ? undefined : (chains[0] ?? 'mainnet');
  const on = (chain: Chain) =>
    lists.flatMap((list) => (isBare(list) ? (chain === only ? list : []) : (list[chain] ?? [])));
  const each = <T>(of: (chain: Chain) => T): PerChain<T> => ({ mainnet: of('mainnet'), hoodi: of('hoodi') });
  const named = new Set(CHAIN_NAMES.flatMap((chain) => keysIn(on(chain))));
  const anywhere = new Set(only ? [] : keysIn(lists.filter(isBare).flat())).difference(named);
  return {
    watch: each((chain) => watchOf(on(chain).flatMap((one) => (isKey(one) ? [] : one)))),
    keys: each((chain) => [...new Set(keysIn(on(chain))), ...(chains.includes(chain) ? anywhere : [])]),
    anywhere: [...anywhere],
  };
}

function isBare(list: WatchList): list is readonly WatchItem[] {
  return Array.isArray(list);
}

function keysIn(list: readonly WatchItem[]): string[] {
  return list.flatMap((one) => (isKey(one) ? one.key : []));
}
