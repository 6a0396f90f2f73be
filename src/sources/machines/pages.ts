import { type MachineRecord, PROCESSES, RECORDS } from '../../api/answers/machines.ts';
import type { Api } from '../../api/client.ts';
import { type Query, requestTo } from '../../api/endpoints.ts';
import { RequestFailed } from '../../api/errors.ts';
import { eachPage, type ReadPage } from '../../api/paginate.ts';
import { expectReadable } from '../../api/reading.ts';
import { SECONDS_PER_DAY } from '../../toolkit/lib/duration.ts';
import { attempt } from '../answers.ts';
import type { PastPage } from '../history.ts';
import type { ReadContext } from '../read.ts';
import { warning } from './events.ts';

/** The service keeps records for 31 days (api-facts 2). */
export const RECORDS_KEPT_SECONDS = 31 * SECONDS_PER_DAY;

export async function requestPage(
  api: Api,
  query: Query<'machine_metrics'>,
  signal: AbortSignal,
): Promise<PastPage<MachineRecord>> {
  const { data, paging } = await api.request(requestTo('machine_metrics', query), signal);
  const records: MachineRecord[] = [];
  let [count, unreadable] = [0, 0];
  for (const process of PROCESSES) {
    const list = data[`${process}_metrics`] ?? [];
    // An unreadable list counts as one unreadable record.
    const items = list === false ? [null] : list;
    count += items.length;
    const read = api.recordsInPart('machine_metrics', RECORDS[process], items);
    for (const record of read.records) records.push([process, record] as MachineRecord);
    unreadable += read.unreadable;
  }
  return { cursor: paging?.next_cursor, records, count, unreadable };
}

/** The records of all requests so far. */
export interface Found {
  readonly records: readonly MachineRecord[];
  readonly failure?: Error | undefined;
}

export const NOTHING: Found = { records: [] };

/** Adds the pages of a query, until `isLast` or the end. */
export async function readPages(
  context: ReadContext,
  query: Omit<Query<'machine_metrics'>, 'cursor'>,
  found: Found,
  isLast: (page: PastPage<MachineRecord>) => boolean,
): Promise<Found> {
  const { api, signal, events } = context;
  const records = [...found.records];
  const read = { count: 0, unreadable: 0 };
  const readPage = async (cursor: string | undefined): Promise<ReadPage> => {
    const page = await requestPage(api, { ...query, cursor }, signal);
    records.push(...page.records);
    read.count += page.count;
    read.unreadable += page.unreadable ?? 0;
    return isLast(page) ? { ...page, cursor: undefined } : page;
  };
  const ending = await attempt(context, async () => {
    const ended = await eachPage(readPage);
    if (ended === 'unreadable_cursor') throw new RequestFailed('machine_metrics', 'invalid_body', 'unreadable cursor');
    expectReadable('machine_metrics', read);
    return ended;
  });
  if (ending instanceof Error) return { records, failure: ending };
  if (ending !== 'end') events.push(warning(ending));
  return { records };
}
