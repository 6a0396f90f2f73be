import type { Api } from '../api/client.ts';
import type { Family } from '../metrics/family.ts';

/** The evaluation windows of the service, which always end now (api-facts 3.1). */
export const WINDOWS = ['24h', '7d', '30d', '90d', 'all_time'] as const;

/** Unix seconds, both ends inclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** One sequence of pages. */
export type PastRange = Span | { readonly window: (typeof WINDOWS)[number] };

export interface PastPage<R> {
  readonly cursor: string | null | undefined;
  readonly records: readonly R[];
  /** Records on the page, readable or not. */
  readonly count: number;
}

/**
 * The past of a source. R is one record, plain data that survives JSON; what it says goes through the same translation as
 * what is polled.
 */
export interface History<R = unknown> {
  /** Reads the page that `cursor` leads to, undefined: the first one. Newest records come first. */
  readPage(api: Api, range: PastRange, cursor: string | undefined, signal: AbortSignal): Promise<PastPage<R>>;
  /** How many requests these ranges will take; may ask for a page or a few to find out. */
  estimate(api: Api, ranges: readonly PastRange[], now: number, signal: AbortSignal): Promise<number>;
  /** Samples that one record gives, at most. */
  readonly mostSamples: number;
  /** One record a day, or many. */
  readonly isDaily: boolean;
  /** How far beyond a range, in seconds, its records may lie. */
  readonly reachSeconds: number;
  /** Unix seconds of a record's samples. */
  at(record: R): number;
  /** Records of one group share series with each other and with no others. */
  group(record: R): string;
  /** Within a group: what tells one thing at one time. */
  stream(record: R): string;
  /** Pure. The families of records of one group, in ascending time; each sample has the time of its record. */
  families(records: readonly R[]): Family[];
}
