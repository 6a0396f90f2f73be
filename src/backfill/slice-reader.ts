import type { Api } from '../api/client.ts';
import { RequestFailed } from '../api/errors.ts';
import { type Ending, eachPage, type ReadPage } from '../api/paginate.ts';
import { CLOCK_AHEAD_SECONDS } from '../lib/clock.ts';
import type { Seconds, UnixSeconds } from '../lib/time.ts';
import type { History, PastRange } from '../sources/history.ts';
import { type Covered, OTHER_CLOCK_SECONDS, recordTest } from './covered.ts';
import type { PageLog } from './page-log.ts';
import { canBeHalved, type Slice } from './plan.ts';
import { type RetryOptions, retryUntilAnswered } from './retry-until-answered.ts';
import type { Spacing, Verdict } from './spacing.ts';

export interface SliceReaderOptions extends RetryOptions {
  readonly api: Api;
  readonly slice: Slice;
  readonly history: History;
  readonly log: PageLog;
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

/** Reads the pages of one slice into its log, from where the log ends. */
export class SliceReader {
  readonly #options: SliceReaderOptions;
  readonly #isScraped: (group: string, at: UnixSeconds) => boolean;
  #verdict: Verdict | undefined;

  constructor(options: SliceReaderOptions) {
    this.#options = options;
    this.#isScraped = options.covered ? recordTest(options.covered) : () => false;
  }

  /** Resolves with false as soon as it is clear that the service thins the slice and that it can be halved. */
  async run(): Promise<boolean> {
    const { log } = this.#options;
    await this.#noteKeptPages();
    const ending = await this.#readAll();
    if (ending !== 'end') {
      this.#judge(true);
      if (!this.#isThinned) await log.append({ next: null, ending, bad: 0, records: [] });
    }
    return !this.#isThinned;
  }

  async #noteKeptPages(): Promise<void> {
    const { spacing, log } = this.#options;
    if (!spacing || log.isEmpty) return;
    for await (const { records } of log.pages()) this.#note(records);
  }

  async #readAll(): Promise<Ending> {
    const { log } = this.#options;
    const resumed = log.next;
    let isFirst = true;
    try {
      return await eachPage(async (cursor) => {
        const page = await this.#readPage(cursor ?? resumed);
        isFirst = false;
        return page;
      }, Number.POSITIVE_INFINITY);
    } catch (error) {
      if (!isFirst || resumed === undefined || !isCursorRefused(error)) throw error;
      await log.clear();
      return eachPage((cursor) => this.#readPage(cursor), Number.POSITIVE_INFINITY);
    }
  }

  async #readPage(cursor: string | undefined): Promise<ReadPage> {
    const { api, slice, history, log, signal, onPage } = this.#options;
    const request = () => history.readPage(api, slice.range, cursor, signal);
    const page = await retryUntilAnswered(request, this.#options);
    const records = page.records.filter((record) => this.#isExpected(record));
    this.#note(records);
    // Judged before the page is kept, because a slice is complete once its last page is kept.
    this.#judge(!page.cursor);
    if (this.#isThinned) return NO_MORE_PAGES;
    const wanted = records.filter((record) => this.#isWanted(record));
    await log.append({ next: page.cursor || null, bad: page.count - records.length, records: wanted });
    onPage(slice);
    return { cursor: page.cursor, records: page.count };
  }

  #isExpected(record: unknown): boolean {
    const { history, slice, now } = this.#options;
    const at = history.at(record);
    return at <= now + CLOCK_AHEAD_SECONDS && isWithin(slice.range, at, history.reachSeconds);
  }

  /** A newer record may lie among the samples of scrapes to come. */
  #isWanted(record: unknown): boolean {
    const { history, now } = this.#options;
    const at = history.at(record);
    return at <= now - OTHER_CLOCK_SECONDS && !this.#isScraped(history.group(record), at);
  }

  #note(records: readonly unknown[]): void {
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
