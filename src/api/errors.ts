import type { Milliseconds } from '../toolkit/lib/time.ts';
import type { Endpoint } from './endpoints.ts';

/** Why a request failed. A closed set, because it is a metric label. */
export const FAILURE_REASONS = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'rate_limited',
  'revoked',
  'server_error',
  'unexpected_status',
  'timeout',
  'network',
  'invalid_body',
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

/** Reasons that may pass within minutes. */
export const PASSING: readonly string[] = [
  'network',
  'timeout',
  'server_error',
  'unexpected_status',
  'invalid_body',
] satisfies FailureReason[];

/** A request was sent and failed. Has neither URL nor headers, because both can contain the key. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';
  readonly endpoint: Endpoint;
  readonly reason: FailureReason;
  /** How long a proxy or CDN asks to wait. */
  readonly waitMs: Milliseconds;

  constructor(endpoint: Endpoint, reason: FailureReason, detail: string, waitMs: Milliseconds = 0) {
    super(`${endpoint}: ${reason} (${detail})`);
    this.endpoint = endpoint;
    this.reason = reason;
    this.waitMs = waitMs;
  }
}

export function isFailure(error: unknown, ...reasons: FailureReason[]): error is RequestFailed {
  return error instanceof RequestFailed && reasons.includes(error.reason);
}
