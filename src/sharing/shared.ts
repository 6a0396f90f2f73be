import type { Question, SharedLimits } from './protocol.ts';

/** The access to the service that a running exporter lends to a backfill. */
export interface Shared {
  /** The fingerprint of its key. */
  readonly fingerprint: string;
  limits(): SharedLimits;
  /**
   * Sends the request after the exporter's own, and returns the body of the answer.
   * @throws NotPassedOn, RequestFailed, BudgetClosed; the signal's reason when it aborts
   */
  request(question: Question, signal: AbortSignal): Promise<Uint8Array>;
}

/** The exporter does not forward this request. */
export class NotPassedOn extends Error {
  override readonly name = 'NotPassedOn';
}
