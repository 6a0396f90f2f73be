import * as z from 'zod';
import { CHAIN_NAMES, type Chain } from '../facts/chain.ts';
import { parsed, section } from '../toolkit/yaml/fields.ts';

/** A section with one key per chain. */
export function perChain<S extends z.ZodType>(schema: S, expected?: string) {
  const shape = Object.fromEntries(CHAIN_NAMES.map((chain) => [chain, schema])) as Record<Chain, S>;
  return section(shape, expected);
}

/** The service uses the next number for an unknown proposer (api-facts 8.1). */
const MAX_INDEX = 2_147_483_646;

const RANGE = /^(\d{1,15})(?:-(\d{1,15}))?$/;

/** An inclusive range of validator indices, from `12345` or `"20000-20099"`. */
export const indexRange = z
  .union(
    [
      z
        .int()
        .min(0)
        .transform((only) => ({ first: only, last: only })),
      parsed('a range', parseRange).meta({ pattern: RANGE.source }),
    ],
    {
      error: ({ input }) =>
        isHex(input)
          ? 'validator indices, not public keys'
          : 'a validator index such as 12345 or a range such as "20000-20099"',
    },
  )
  .refine(({ first, last }) => first <= last, { error: 'the start of the range is larger than its end' })
  .refine(({ last }) => last <= MAX_INDEX, { error: `expected validator indices of at most ${MAX_INDEX}` });

function parseRange(text: string): { first: number; last: number } | undefined {
  const [, from, to = from] = RANGE.exec(text) ?? [];
  return from === undefined ? undefined : { first: Number(from), last: Number(to) };
}

function isHex(value: unknown): boolean {
  return typeof value === 'string' && /^(0x[\da-f]*|[\da-f]{96})$/i.test(value);
}
