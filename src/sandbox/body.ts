import * as z from 'zod';
import { CHAIN_NAMES } from '../facts/chain.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { Refusal } from './refusal.ts';

/**
 * The bodies that the service accepts, written from its documents and from recorded requests. They share nothing with the
 * client, so they refuse a key that only the client has.
 */
const Natural = z.int().nonnegative();

const Bounds = z.strictObject({ start: Natural, end: Natural }).refine(({ start, end }) => start <= end);
const TimeRange = z.strictObject({ timestamp: Bounds });

/** The cursor of the first page may be empty (api-facts 7.2). */
const PAGE = { page_size: z.int().min(1).max(10).default(10), cursor: z.string().default('') };

const ChainName = z.enum(CHAIN_NAMES);
const EvaluationWindow = z.strictObject({ evaluation_window: z.enum(['24h', '7d', '30d', '90d', 'all_time']) });

export const MachineMetricsBody = z.strictObject({
  range: TimeRange,
  // At most 20 names (api-facts 2); an empty list is no filter.
  machines: z.array(z.string()).max(20).default([]),
  ...PAGE,
});
export type MachineMetricsBody = z.infer<typeof MachineMetricsBody>;

export const MachineNamesBody = z.strictObject({});

export const DailyReturnsBody = z.strictObject({
  chain: ChainName,
  range: z.union([EvaluationWindow, TimeRange]),
  ...PAGE,
});
export type DailyReturnsBody = z.infer<typeof DailyReturnsBody>;

export const SyncCommitteeBody = z.strictObject({
  sync_committee_period: z.strictObject({ view: z.literal('latest') }),
  chain: ChainName,
});

const PublicKey = z.string().regex(/^0x[0-9a-f]{96}$/);
/** In every recorded request the identifiers are in an object of their own, and of one kind (api-facts 10). */
const ValidatorSelector = z.strictObject({ validator_identifiers: z.array(z.union([Natural, PublicKey])).min(1) });

export const ValidatorsBody = z.strictObject({ chain: ChainName, validator: ValidatorSelector, ...PAGE });
export type ValidatorsBody = z.infer<typeof ValidatorsBody>;

/** Of the rewards and the performance of validators. */
export const AggregateBody = z.strictObject({
  chain: ChainName,
  validator: ValidatorSelector,
  range: EvaluationWindow,
});
export type AggregateBody = z.infer<typeof AggregateBody>;

/** The same for one epoch, as a bare number. */
export const EpochBody = z.strictObject({ chain: ChainName, validator: ValidatorSelector, epoch: Natural, ...PAGE });
export type EpochBody = z.infer<typeof EpochBody>;

export const NetworkPerformanceBody = z.strictObject({ chain: ChainName, range: EvaluationWindow });

/** As recorded. */
export const BlockRewardsBody = z.strictObject({ chain: ChainName, block: z.strictObject({ number: Natural }) });
export type BlockRewardsBody = z.infer<typeof BlockRewardsBody>;

export const QueuesBody = z.strictObject({ chain: ChainName });

/** @throws Refusal 400 for anything but JSON that the schema accepts. */
export function accepted<S extends z.ZodType>(schema: S, text: string): z.output<S> {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new Refusal(400);
  }
}

/** The number that a path selects, by a word or in digits. @throws Refusal 400 with this message for anything else. */
export function selected(text: string, words: Readonly<Record<string, number>>, message: string): number {
  const number = words[text] ?? (/^\d+$/.test(text) ? Number(text) : Number.NaN);
  if (!Number.isSafeInteger(number)) throw new Refusal(400, message);
  return number;
}

const Cursor = z.tuple([z.string(), z.number(), Natural]);

/**
 * A page of the records that exist when the first page is requested, so that later pages fit it. The cursor contains that
 * time, how many records were sent, and the rest of the body: the service refuses it with another body (api-facts 7.2). A
 * page has no more than `longest` records, whatever was requested.
 */
export function pageOf<T>(
  { cursor, ...query }: { readonly cursor: string; readonly page_size: number },
  now: UnixMs,
  recordsAt: (at: UnixMs) => Iterable<T>,
  longest = Number.POSITIVE_INFINITY,
) {
  const size = Math.min(query.page_size, longest);
  const body = JSON.stringify(query);
  const [of, at, sent] = cursor ? accepted(Cursor, Buffer.from(cursor, 'base64url').toString()) : [body, now, 0];
  if (of !== body) throw new Refusal(400);
  const left = Iterator.from(recordsAt(at)).drop(sent);
  // One more than fits shows whether there is another page.
  const found = [...left.take(size + 1)];
  const next = Buffer.from(JSON.stringify([body, at, sent + size])).toString('base64url');
  return { page: found.slice(0, size), paging: { next_cursor: found.length > size ? next : '' } };
}
