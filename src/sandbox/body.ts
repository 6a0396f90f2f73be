import * as z from 'zod';
import { CHAIN_NAMES } from '../facts/chain.ts';
import { Refusal } from './refusal.ts';

/**
 * The bodies that the service accepts, written from its documents and from recorded requests. They share nothing with the
 * client, so a key that only the client believes in is refused here.
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
export type SyncCommitteeBody = z.infer<typeof SyncCommitteeBody>;

/** Every recorded request has the identifiers in an object of their own (api-facts 10). */
const ValidatorSelector = z.strictObject({ validator_identifiers: z.array(Natural).min(1) });

export const ValidatorsBody = z.strictObject({ chain: ChainName, validator: ValidatorSelector, ...PAGE });
export type ValidatorsBody = z.infer<typeof ValidatorsBody>;

/** Of the rewards and the performance of validators. */
export const AggregateBody = z.strictObject({
  chain: ChainName,
  validator: ValidatorSelector,
  range: EvaluationWindow,
});
export type AggregateBody = z.infer<typeof AggregateBody>;

export const NetworkPerformanceBody = z.strictObject({ chain: ChainName, range: EvaluationWindow });
export type NetworkPerformanceBody = z.infer<typeof NetworkPerformanceBody>;

export const QueuesBody = z.strictObject({ chain: ChainName });
export type QueuesBody = z.infer<typeof QueuesBody>;

/** @throws Refusal 400 for a value that the schema does not accept. */
export function accepted<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (!result.success) throw new Refusal(400);
  return result.data;
}

/** @throws Refusal 400 for anything but JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400);
  }
}

/** A number in a path. @throws Refusal 400 with this message for anything else. */
export function whole(text: string, message: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new Refusal(400, message);
  return Number(text);
}

/**
 * A cursor contains the rest of the body and the position of the next page, so one that comes with another body is
 * refused, as by the service (api-facts 7.2).
 */
export function encodeCursor(query: readonly unknown[], position: object): string {
  return Buffer.from(JSON.stringify([query, position])).toString('base64url');
}

/**
 * Undefined for the first page, which has the cursor ''.
 * @throws Refusal 400 for what `encodeCursor` did not make for this query.
 */
export function decodeCursor<P extends object>(query: readonly unknown[], cursor: string): P | undefined {
  if (cursor === '') return undefined;
  const text = Buffer.from(cursor, 'base64url').toString();
  const start = `[${JSON.stringify(query)},`;
  if (!text.startsWith(start)) throw new Refusal(400);
  // Only this endpoint has encoded a text with this start.
  return parseJson(text.slice(start.length, -1)) as P;
}
