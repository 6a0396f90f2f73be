import * as z from 'zod';
import { FAILURE_REASONS } from '../api/errors.ts';

/** The endpoints of histories, and the cheap request with which a backfill learns the limits. */
export const SHARED_ENDPOINTS = ['machine_metrics', 'daily_returns', 'sync_committee'] as const;
export type SharedEndpoint = (typeof SHARED_ENDPOINTS)[number];

const Count = z.number().nonnegative();

/** What the limits leave for a backfill on each endpoint, after the polls. */
const SharedLimits = z.record(
  z.enum(SHARED_ENDPOINTS),
  z.object({
    perSecond: Count,
    left: z.object({ hour: Count.exactOptional(), month: Count.exactOptional() }),
    isKnown: z.boolean(),
  }),
);
export type SharedLimits = z.infer<typeof SharedLimits>;

/** The header of each answer that has the limits after it, as JSON. */
export const LIMITS_HEADER = 'x-limits';

export function parseLimits(text: unknown): SharedLimits | undefined {
  try {
    return SharedLimits.parse(JSON.parse(String(text)));
  } catch {
    return undefined;
  }
}

/** The response to GET. Incompatible versions have another `protocol`. */
export const Greeting = z.object({ protocol: z.literal(1), pid: z.number(), fingerprint: z.string() });
export type Greeting = z.infer<typeof Greeting>;

/** The body of a POST: one request to the service. */
export const Question = z.strictObject({
  endpoint: z.enum(SHARED_ENDPOINTS),
  path: z.string(),
  /** The JSON of the request. */
  body: z.looseObject({}),
  /** The user agreed that it may take what the polls need of the month. */
  isAgreed: z.boolean(),
});
export type Question = z.infer<typeof Question>;

/** The body of every answer that is not a 200. */
export const Refusal = z.union([
  /** No request may be sent before this, in Unix ms; null: not before a new key or a restart. */
  z.object({ closedUntil: z.number().nullable() }),
  /** No request may be sent before this either, because the exporter needs the rest of the month. */
  z.object({ keptUntil: z.number() }),
  /** It was sent and failed. */
  z.object({ reason: z.enum(FAILURE_REASONS), detail: z.string(), status: z.number().exactOptional() }),
  /** It is not passed on. */
  z.object({ refused: z.string() }),
]);
export type Refusal = z.infer<typeof Refusal>;
