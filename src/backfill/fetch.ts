import type { PastRange } from '../api/endpoints.ts';
import { eachPage } from '../api/paginate.ts';
import type { History } from '../sources/history.ts';
import type { Plan, ReadOptions, Slice } from './plan.ts';
import { retryUntilAnswered } from './retry.ts';
import type { Store } from './store.ts';

export interface FetchOptions extends ReadOptions {
  readonly store: Store;
  readonly onPage: () => void;
}

/** Reads the slices that are not complete, oldest first. */
export async function fetchAll(options: FetchOptions, plan: Plan): Promise<void> {
  const left = options.store.left();
  for (const slice of plan.slices) {
    if (left.get(slice.id) !== 0) await readSlice(options, plan, slice);
  }
}

/** Reads the pages of one slice into the store, from the cursor of an earlier run. */
async function readSlice(options: FetchOptions, plan: Plan, slice: Slice): Promise<void> {
  const { api, store, histories, signal, onPage } = options;
  const history = histories.get(slice.source);
  if (!history) throw new TypeError(`no source ${slice.source}`);
  const resumed = store.cursorOf(slice);
  let left = store.left().get(slice.id) ?? slice.expected;
  const ending = await eachPage(async (cursor) => {
    const request = () => history.readPage(api, slice.range, cursor ?? resumed, signal);
    const page = await retryUntilAnswered(request, options);
    const next = page.cursor || null;
    left = next === null ? 0 : Math.max(1, left - 1);
    const expected = page.records.filter((record) => isExpected(history, slice.range, record));
    const records = expected.filter((record) => history.at(record) <= plan.end);
    store.keep(slice, history, { next, left, bad: page.count - expected.length, records });
    onPage();
    return page;
  }, Number.POSITIVE_INFINITY);
  if (ending !== 'end') store.keep(slice, history, { next: null, left: 0, ending, bad: 0, records: [] });
}

function isExpected(history: History, range: PastRange, record: unknown): boolean {
  const at = history.at(record);
  return !('start' in range) || (at >= range.start - history.reachSeconds && at <= range.end + history.reachSeconds);
}
