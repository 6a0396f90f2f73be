import type { Question, SharedLimits } from './protocol.ts';

/** The access of a running exporter to the service, as it lends it to a backfill. */
export interface Shared {
  /** Of the key that it uses. */
  readonly fingerprint: string;
  limits(): SharedLimits;
  /**
   * Sends the request after the exporter's own, and returns the body of the answer.
   * @throws NotPassedOn, RequestFailed, BudgetClosed; the signal's reason when it aborts
   */
  request(question: Question, signal: AbortSignal): Promise<Uint8Array>;
}

/** The exporter does not send this request for others. */
export class NotPassedOn extends Error {
  override readonly name = 'NotPassedOn';
}
