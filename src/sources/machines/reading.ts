import type { Api } from '../../api/client.ts';
import { type Ending, eachPage, type ReadPage } from '../../api/paginate.ts';
import { CLOCK_AHEAD_SECONDS } from '../../lib/clock.ts';
import type { UnixMs } from '../../lib/time.ts';
import type { PastPage, Span } from '../history.ts';
import { type MachinesOptions, RECORDS_PER_PAGE } from './options.ts';
import { MachineMetricsPage, type MachineRecord, PROCESSES, type ProcessRecord, RECORDS } from './schema.ts';
import { addRecord, type Sweep } from './sweep.ts';

/** Why data may be missing after a sweep that did not fail. */
export type Warning = Exclude<Ending, 'end'> | 'too_many_machines' | 'network_counters_fell';
/** `names`: the machines to which the warning applies, if not to all. */
export type Warn = (reason: Warning, names?: readonly string[]) => void;

/** The context that the requests of one sweep share. */
export interface SweepContext {
  readonly options: MachinesOptions;
  readonly api: Api;
  readonly sweep: Sweep;
  readonly signal: AbortSignal;
  readonly warn: Warn;
  readonly now: UnixMs;
  readonly isPlausible: (record: ProcessRecord) => boolean;
}

/** Reads every record of a range into the sweep, of these machines or of all. */
export async function readRange(context: SweepContext, range: Span, names?: readonly string[]): Promise<void> {
  const ending = await eachPage((cursor) => readPage(context, range, names, cursor));
  if (ending !== 'end') context.warn(ending);
}

/** Reads one page into the sweep: the newest records of a range, or the page at the cursor. */
export async function readPage(
  { options, api, sweep, isPlausible, signal }: SweepContext,
  range: Span,
  names?: readonly string[],
  cursor?: string,
): Promise<ReadPage> {
  const page = await requestPage(api, { range, names, cursor }, signal, isPlausible);
  for (const record of page.records) addRecord(sweep, options, record);
  return { cursor: page.cursor, records: page.count };
}

export interface PageQuery {
  readonly range: Span;
  /** Undefined: all machines. */
  readonly names?: readonly string[] | undefined;
  /** Undefined: the first page. */
  readonly cursor: string | undefined;
}

export const MACHINES_PATH = '/api/v2/machine-metrics';

/** Reads one page, record by record. */
export async function requestPage(
  api: Api,
  { range, names, cursor }: PageQuery,
  signal: AbortSignal,
  isPlausible?: (record: ProcessRecord) => boolean,
): Promise<PastPage<MachineRecord>> {
  const body = {
    range: { timestamp: range },
    ...(names ? { machines: names } : {}),
    page_size: RECORDS_PER_PAGE,
    ...(cursor === undefined ? {} : { cursor }),
  };
  const request = { endpoint: 'machine_metrics', priority: 'machines', path: MACHINES_PATH, body } as const;
  const { data, paging } = await api.request(request, MachineMetricsPage, signal);
  const records: MachineRecord[] = [];
  let count = 0;
  for (const process of PROCESSES) {
    const items = data[`${process}_metrics`] ?? [];
    count += items.length;
    const good = await api.records('machine_metrics', RECORDS[process], items, isPlausible);
    for (const record of good) records.push([process, record] as MachineRecord);
  }
  return { cursor: paging?.next_cursor, records, count };
}

/** Whether a record is plausible at `now`: not far in the future. */
export function isPlausibleAt(now: UnixMs): (record: ProcessRecord) => boolean {
  const latest = now / 1000 + CLOCK_AHEAD_SECONDS;
  return ({ timestamp }) => timestamp <= latest;
}
