import type { Api } from '../api/client.ts';
import type { Endpoint, PastRange } from '../api/endpoints.ts';
import type { ReadPage } from '../api/paginate.ts';
import type { Family } from '../toolkit/exposition/family.ts';
import type { Seconds, UnixSeconds } from '../toolkit/lib/time.ts';

export interface PastPage<R> extends ReadPage {
  /** The readable ones. */
  readonly records: readonly R[];
}

/** The past of a source, which exists even while the source is off. */
export interface Past {
  /** Its records, in words. */
  readonly what: string;
  readonly endpoint: Endpoint;
  /** Whether there is one record a day. A window can select daily records. */
  readonly isDaily: boolean;
  /** How long the service keeps the records. Absent if for ever. */
  readonly keptSeconds?: Seconds;
  /** Parts that take the same number of requests each, if there are several. */
  readonly parts?: readonly string[];
  /** The flags that not all sources have. */
  readonly flags: readonly ('window' | 'step' | 'full-resolution')[];
}

/**
 * The past of a source. R is one record: plain data that survives JSON, and becomes families like polled values.
 */
export interface History<R = unknown> {
  /** Since when scrapes have the same series. Null if never. Absent if since the first start of the exporter. */
  readonly liveFrom?: UnixSeconds | null;
  /** Reads what the other methods need, at the start of every run. Absent if they need nothing. */
  prepare?(api: Api, signal: AbortSignal): Promise<void>;
  /** What the records of a range depend on: `--resume` needs the same. Absent if on the range alone. */
  basis?(range: PastRange): string;
  /** Reads the page at `cursor`, or the first page without one. The newest records come first. */
  readPage(api: Api, range: PastRange, cursor: string | undefined, signal: AbortSignal): Promise<PastPage<R>>;
  /** How many requests each range will take. Sends a few requests to find out, which also show the limits. */
  estimate(api: Api, ranges: readonly PastRange[], now: UnixSeconds, signal: AbortSignal): Promise<number[]>;
  /** How far outside a range its records may be. */
  readonly reachSeconds: Seconds;
  /** The time of a record's samples. */
  at(record: R): UnixSeconds;
  /** Records share series only within their group. */
  group(record: R): string;
  /** Within a group, two records of the same stream and time are duplicates. */
  stream(record: R): string;
  /**
   * The families of records of one group, in ascending time; each sample has the time of its record. Later calls get later records of the
   * group, and interpret them with the facts of earlier ones.
   */
  families(records: readonly R[]): Family[];
}
