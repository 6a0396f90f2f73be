import type { Api } from '../api/client.ts';
import { RequestFailed } from '../api/errors.ts';
import { type Ending, eachPage, type ReadPage } from '../api/paginate.ts';
import { CLOCK_AHEAD_SECONDS } from '../lib/clock.ts';
import type { Seconds, UnixSeconds } from '../lib/time.ts';
import type { History, PastRange } from '../sources/history.ts';
import { type Covered, OTHER_CLOCK_SECONDS, recordTest } from './covered.ts';
import { canBeHalved, type Slice } from './plan.ts';
import { resultOf, type SliceResult } from './queue.ts';
import { type RetryOptions, retryUntilAnswered } from './retry-until-answered.ts';
import type { Spacing, Verdict } from './spacing.ts';
import type { Store } from './store.ts';

export interface SliceReaderOptions extends RetryOptions {
  readonly api: Api;
  readonly slice: Slice;
  readonly history: History;
  readonly store: Store;
  /** Decides whether the slice is thinned; undefined if that is known. */
  readonly spacing: Spacing | undefined;
  /** What scrapes have is left out. */
  readonly covered: Covered | undefined;
  /** When the backfill began. */
  readonly now: UnixSeconds;
  /** Called after each page. */
  readonly onPage: (slice: Slice) => void;
}

const NO_MORE_PAGES: ReadPage = { cursor: null, records: 0 };

/** Reads the pages of one slice into the store, from where an earlier run ended. */
export class SliceReader {
  readonly #options: SliceReaderOptions;
  readonly #isScraped: (group: string, at: UnixSeconds) => boolean;
  #verdict: Verdict | undefined;

  constructor(options: SliceReaderOptions) {
    this.#options = options;
    const { covered, history } = options;
    // The value of a day can extend beyond the end of scrapes, so its samples are left out one by one.
    this.#isScraped = covered && !history.isDaily ? recordTest(covered) : () => false;
  }

  /** Ends early when it is clear that the service thins the slice and that it can be halved. */
  async run(): Promise<SliceResult> {
    const { store, slice, history, spacing } = this.#options;
    const ending = await this.#readAll();
    if (ending !== 'end') {
      this.#judge(true);
      if (!this.#isThinned) store.keep(slice, history, { next: null, ending, bad: 0, records: [] });
    }
    if (this.#isThinned) return { kind: 'thinned' };
    return spacing ? resultOf(spacing) : { kind: 'unknown' };
  }

  async #readAll(): Promise<Ending> {
    const { store, slice, spacing } = this.#options;
    const resumed = store.cursorOf(slice);
    if (spacing && resumed !== undefined) this.#note(store.recordsOf(slice));
    let isFirst = true;
    try {
      return await eachPage(async (cursor) => {
        const page = await this.#readPage(cursor ?? resumed);
        isFirst = false;
        return page;
      }, Number.POSITIVE_INFINITY);
    } catch (error) {
      if (!isFirst || resumed === undefined || !isCursorRefused(error)) throw error;
      store.drop(slice);
      return eachPage((cursor) => this.#readPage(cursor), Number.POSITIVE_INFINITY);
    }
  }

  async #readPage(cursor: string | undefined): Promise<ReadPage> {
    const { api, slice, history, store, signal, onPage } = this.#options;
    const request = () => history.readPage(api, slice.range, cursor, signal);
    const page = await retryUntilAnswered(request, this.#options);
    const records = page.records.filter((record) => this.#isExpected(record));
    this.#note(records);
    // Evaluated before the page is stored, because a slice is complete once its last page is stored.
    this.#judge(!page.cursor);
    if (this.#isThinned) return NO_MORE_PAGES;
    const wanted = records.filter((record) => this.#isWanted(record));
    const bad = page.count - records.length;
    store.keep(slice, history, { next: page.cursor || null, bad, records: wanted });
    onPage(slice);
    return { cursor: page.cursor, records: page.count };
  }

  #isExpected(record: unknown): boolean {
    const { history, slice, now } = this.#options;
    const at = history.at(record);
    return at <= now + CLOCK_AHEAD_SECONDS && isWithin(slice.range, at, history.reachSeconds);
  }

  /** A newer record could overlap with future scrapes. */
  #isWanted(record: unknown): boolean {
    const { history, now } = this.#options;
    const at = history.at(record);
    return at <= now - OTHER_CLOCK_SECONDS && !this.#isScraped(history.group(record), at);
  }

  #note(records: Iterable<unknown>): void {
    if (this.#verdict) return;
    const { history, spacing } = this.#options;
    for (const record of records) {
      spacing?.add(`${history.stream(record)} ${history.group(record)}`, history.at(record));
    }
  }

  /** A verdict is final. A slice that cannot be halved never counts as thinned. */
  #judge(isEnd: boolean): void {
    if (this.#verdict) return;
    const verdict = this.#options.spacing?.verdict(isEnd);
    if (verdict === 'full' || canBeHalved(this.#options.slice)) this.#verdict = verdict;
  }

  get #isThinned(): boolean {
    return this.#verdict === 'thinned';
  }
}

function isWithin(range: PastRange, at: UnixSeconds, reachSeconds: Seconds): boolean {
  return !('start' in range) || (at >= range.start - reachSeconds && at <= range.end + reachSeconds);
}

/** The service no longer knows a cursor of an earlier run. */
function isCursorRefused(error: unknown): boolean {
  return error instanceof RequestFailed && (error.reason === 'bad_request' || error.reason === 'not_found');
}
