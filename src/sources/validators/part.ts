import type { Api } from '../../api/client.ts';
import type { Part } from '../../api/endpoints.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { afterFailure, type Refusal, refusedUntil } from '../refusal.ts';
import type { SourceEvent } from '../source.ts';
import type { ValidatorsOptions } from './options.ts';
import type { Validators } from './schema.ts';

/** The context of all requests of a poll. */
export interface PollContext {
  readonly options: ValidatorsOptions;
  readonly api: Api;
  readonly now: UnixMs;
  readonly signal: AbortSignal;
  /** What the poll has found so far. */
  readonly events: SourceEvent[];
}

/** The value after a part was read, and why it was not read completely. */
export interface Step {
  readonly value: Validators;
  readonly failure?: Error | undefined;
}

/** Whether the status is read: it is configured, and the service does not refuse it. */
export function isStatusOn({ status }: ValidatorsOptions, value: Validators, now: UnixMs): boolean {
  return status && now >= refusedUntil(value.statusRefusal);
}

/** The refusals of a part after its request failed. A part that counts as refused does not fail the poll. */
export function refused(
  { now, signal, events }: PollContext,
  part: Part,
  before: Refusal | undefined,
  error: unknown,
): { refusal: Refusal | undefined; failure: Error | undefined } {
  if (signal.aborted || !(error instanceof Error)) throw error;
  const refusal = afterFailure(before, error, now);
  if (now >= refusedUntil(refusal)) return { refusal, failure: error };
  if (refusedUntil(before) === 0) events.push({ type: 'part_refused', part, err: error.message });
  return { refusal, failure: undefined };
}
