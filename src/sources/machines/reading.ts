import type { Api } from '../../api/client.ts';
import { CLOCK_AHEAD_SECONDS } from '../../lib/clock.ts';
import type { UnixMs } from '../../lib/time.ts';
import type { PastPage, Span } from '../history.ts';
import { RECORDS_PER_PAGE } from './options.ts';
import { MachineMetricsPage, type MachineRecord, PROCESSES, type ProcessRecord, RECORDS } from './schema.ts';

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
    const good = api.records('machine_metrics', RECORDS[process], items, isPlausible);
    for (const record of good) records.push([process, record] as MachineRecord);
  }
  return { cursor: paging?.next_cursor, records, count };
}

/** Whether a record is plausible at `now`: not far in the future. */
export function isPlausibleAt(now: UnixMs): (record: ProcessRecord) => boolean {
  const latest = now / 1000 + CLOCK_AHEAD_SECONDS;
  return ({ timestamp }) => timestamp <= latest;
}
