import type { Api } from '../api/client.ts';
import { RequestFailed } from '../api/errors.ts';
import { eachPage, type Page } from '../api/paginate.ts';
import { CLOCK_AHEAD_SECONDS, type Clock } from '../lib/clock.ts';
import type { History } from '../sources/history.ts';
import { PageLog, readPages } from './page-log.ts';
import { patiently } from './patience.ts';
import { canBeCut, cut, lengthOf, type Plan, type Slice } from './plan.ts';
import { Spacing } from './spacing.ts';
import type { WorkFolder } from './work-folder.ts';

export interface Fetching {
  readonly api: Api;
  readonly clock: Clock;
  readonly folder: WorkFolder;
  /** By the id of the source. */
  readonly histories: ReadonlyMap<string, History>;
  readonly fullResolution: boolean;
  /** Sequences that are read at once: the pages of one are serial, and each waits for its answer. */
  readonly sequences: () => number;
  readonly onWait: (reason: string, until: number) => void;
  /** Told after each page. */
  readonly onPage: (slice: Slice) => void;
  /** Told when a slice is complete. */
  readonly onSlice: (slice: Slice) => void;
}

/** Reads what is not there yet, the oldest slices first, and returns the plan as it became. Every page is kept at once. */
export async function fetchAll(fetching: Fetching, plan: Plan, signal: AbortSignal): Promise<Plan> {
  return new Fetch(fetching, plan).run(signal);
}

class Fetch {
  readonly #deps: Fetching;
  #plan: Plan;
  /** Complete ones and those that are being read. */
  readonly #taken = new Set<number>();
  #saving: Promise<void> = Promise.resolve();

  constructor(deps: Fetching, plan: Plan) {
    this.#deps = deps;
    this.#plan = plan;
  }

  async run(signal: AbortSignal): Promise<Plan> {
    await this.#deps.folder.tidy(this.#plan);
    // One alone, until it is known how long slices may be: others would be read in vain.
    while (this.#deps.fullResolution && this.#plan.fullSeconds === undefined && (await this.#readNext(signal)));
    const failure = new AbortController();
    const either = AbortSignal.any([signal, failure.signal]);
    const reader = async (): Promise<void> => {
      try {
        while (await this.#readNext(either));
      } catch (error) {
        failure.abort(error);
        throw error;
      }
    };
    const results = await Promise.allSettled(Array.from({ length: this.#deps.sequences() }, reader));
    await this.#saving;
    signal.throwIfAborted();
    if (failure.signal.aborted) throw failure.signal.reason;
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    return this.#plan;
  }

  /** False: there is none left. */
  async #readNext(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const slice = this.#plan.slices.find(({ id }) => !this.#taken.has(id));
    if (!slice) return false;
    this.#taken.add(slice.id);
    const log = await PageLog.open(this.#deps.folder.pagesOf(slice));
    try {
      if (!log.isDone) await this.#readOrCut(slice, log, signal);
    } finally {
      await log.close();
    }
    return true;
  }

  async #readOrCut(slice: Slice, log: PageLog, signal: AbortSignal): Promise<void> {
    const seconds = lengthOf(slice) ?? 0;
    const { thinnedSeconds = Number.POSITIVE_INFINITY, fullSeconds = 0 } = this.#plan;
    if (seconds >= thinnedSeconds && canBeCut(slice)) return this.#cut(slice);
    const mayBeThinned = this.#deps.fullResolution && seconds > fullSeconds;
    const spacing = mayBeThinned ? new Spacing(new Map(this.#plan.slow)) : undefined;
    const reading = new SliceReading(this.#deps, this.#plan.now, slice, log, spacing);
    if ((await reading.run(signal)) === 'thinned') return this.#cut(slice, seconds);
    if (spacing) this.#learn(spacing, seconds);
    this.#deps.onSlice(slice);
  }

  async #cut(slice: Slice, thinnedSeconds = this.#plan.thinnedSeconds): Promise<void> {
    const halves = cut(this.#plan, slice);
    if (!halves) throw new TypeError('this slice cannot be cut');
    await this.#replan({ ...halves, ...(thinnedSeconds === undefined ? {} : { thinnedSeconds }) });
  }

  /** What a slice that is kept says of how long others may be. */
  #learn(spacing: Spacing, seconds: number): void {
    const verdict = spacing.verdict();
    if (verdict === 'full') {
      this.#plan = { ...this.#plan, fullSeconds: Math.max(this.#plan.fullSeconds ?? 0, seconds) };
    }
    if (verdict === 'thinned') {
      // Too short to be thinned, and yet sparse: these push no more often. What was cut because of them need not be.
      const { thinnedSeconds: _, ...plan } = this.#plan;
      this.#plan = { ...plan, slow: [...plan.slow, ...spacing.sparse()] };
    }
    this.#save();
  }

  async #replan(plan: Plan): Promise<void> {
    this.#plan = plan;
    this.#save();
    await this.#saving;
  }

  /** One write at a time, in order. */
  #save(): void {
    const plan = this.#plan;
    this.#saving = this.#saving.then(() => this.#deps.folder.save(plan));
    // Whoever waits for it is told; nobody may be.
    this.#saving.catch(() => undefined);
  }
}

/** Thrown out of a sequence that is not worth reading on. */
class Thinned extends Error {}

/** One slice: its pages into its log, from where they ended. */
class SliceReading {
  readonly #deps: Fetching;
  readonly #now: number;
  readonly #slice: Slice;
  readonly #log: PageLog;
  readonly #history: History;
  readonly #spacing: Spacing | undefined;
  /** Settled, whatever follows. */
  #isFull = false;

  /** @param spacing Where the slice may turn out to be thinned. */
  constructor(deps: Fetching, now: number, slice: Slice, log: PageLog, spacing: Spacing | undefined) {
    this.#deps = deps;
    this.#now = now;
    this.#slice = slice;
    this.#log = log;
    this.#spacing = spacing;
    const history = deps.histories.get(slice.source);
    if (!history) throw new TypeError(`no source ${slice.source}`);
    this.#history = history;
  }

  async run(signal: AbortSignal): Promise<'read' | 'thinned'> {
    try {
      await this.#recall();
      const ending = await this.#sequence(signal);
      if (ending === 'end') return 'read';
      this.#judge(true);
      await this.#log.append({ next: null, ending, bad: 0, records: [] });
      return 'read';
    } catch (error) {
      if (error instanceof Thinned) return 'thinned';
      throw error;
    }
  }

  /** What was read before an interruption says something of the spacing too. */
  async #recall(): Promise<void> {
    if (!this.#spacing || this.#log.isEmpty) return;
    for await (const { records } of readPages(this.#deps.folder.pagesOf(this.#slice))) this.#note(records);
  }

  async #sequence(signal: AbortSignal): ReturnType<typeof eachPage> {
    const resumed = this.#log.next;
    let isFirst = true;
    try {
      return await eachPage(async (cursor) => {
        const page = await this.#readPage(cursor ?? resumed, signal);
        isFirst = false;
        return page;
      }, Number.POSITIVE_INFINITY);
    } catch (error) {
      const isOld = isFirst && resumed !== undefined && error instanceof RequestFailed;
      if (!isOld || (error.reason !== 'bad_request' && error.reason !== 'not_found')) throw error;
      // The service no longer knows the cursor.
      await this.#log.clear();
      return eachPage((cursor) => this.#readPage(cursor, signal), Number.POSITIVE_INFINITY);
    }
  }

  async #readPage(cursor: string | undefined, signal: AbortSignal): Promise<Page> {
    const { api, clock, onWait, onPage } = this.#deps;
    const ask = () => this.#history.readPage(api, this.#slice.range, cursor, signal);
    const page = await patiently(ask, { clock, signal, onWait });
    const records = page.records.filter((record) => this.#isOfSlice(record));
    this.#note(records);
    // Before it is kept: a slice whose last page is kept is complete.
    this.#judge(!page.cursor);
    await this.#log.append({ next: page.cursor || null, bad: page.count - records.length, records });
    onPage(this.#slice);
    return { cursor: page.cursor, records: page.count };
  }

  #isOfSlice(record: unknown): boolean {
    const { range } = this.#slice;
    const at = this.#history.at(record);
    if (at > this.#now + CLOCK_AHEAD_SECONDS) return false;
    const { reachSeconds } = this.#history;
    return !('start' in range) || (at >= range.start - reachSeconds && at <= range.end + reachSeconds);
  }

  #note(records: readonly unknown[]): void {
    if (this.#isFull) return;
    const history = this.#history;
    for (const record of records) {
      this.#spacing?.add(`${history.stream(record)} ${history.group(record)}`, history.at(record));
    }
  }

  /** @throws Thinned, before the end of the slice only if that is sure. */
  #judge(isEnd: boolean): void {
    if (!this.#spacing || this.#isFull) return;
    const verdict = this.#spacing.verdict(isEnd);
    if (verdict === 'thinned' && canBeCut(this.#slice)) throw new Thinned();
    this.#isFull = verdict === 'full';
  }
}
