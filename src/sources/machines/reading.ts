import type { Api } from '../../api/client.ts';
import { type Ending, eachPage, type Page } from '../../api/paginate.ts';
import { CLOCK_AHEAD_SECONDS } from '../../lib/clock.ts';
import { type MachinesOptions, RECORDS_PER_PAGE } from './options.ts';
import { MachineMetricsPage, NodeRecord, SystemRecord, ValidatorRecord } from './schema.ts';
import { type Sweep, take } from './sweep.ts';

/** Why data may be missing after a sweep that did not fail. */
export type Warning = Exclude<Ending, 'end'> | 'too_many_machines';

/** What the requests of one sweep share. */
export interface Reading {
  readonly options: MachinesOptions;
  readonly api: Api;
  readonly sweep: Sweep;
  readonly signal: AbortSignal;
  readonly warn: (reason: Warning) => void;
  /** Unix ms. */
  readonly now: number;
  readonly schemas: ReturnType<typeof schemasAt>;
}

/** Unix seconds, both ends inclusive. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Takes in every record of a range, of these machines or of all. */
export async function readRange(reading: Reading, range: Range, names?: readonly string[]): Promise<void> {
  const ending = await eachPage((cursor) => readPage(reading, range, names, cursor));
  if (ending !== 'end') reading.warn(ending);
}

/** Takes in one page: the newest records of a range, or what the cursor leads to. */
export async function readPage(
  reading: Reading,
  range: Range,
  names?: readonly string[],
  cursor?: string,
): Promise<Page> {
  const page = await requestPage(reading.api, { range, names, cursor }, reading.signal);
  return { cursor: page.paging?.next_cursor, records: await takePage(reading, page) };
}

export interface PageQuery {
  readonly range: Range;
  /** Undefined: all machines. */
  readonly names?: readonly string[] | undefined;
  /** Undefined: the first page. */
  readonly cursor: string | undefined;
}

export function requestPage(
  api: Api,
  { range, names, cursor }: PageQuery,
  signal: AbortSignal,
): Promise<MachineMetricsPage> {
  const body = {
    range: { timestamp: range },
    ...(names ? { machines: names } : {}),
    page_size: RECORDS_PER_PAGE,
    ...(cursor === undefined ? {} : { cursor }),
  };
  const request = { endpoint: 'machine_metrics', priority: 'machines', path: '/api/v2/machine-metrics', body } as const;
  return api.request(request, MachineMetricsPage, signal);
}

/** What a record must be at `now`. Made once for a sweep: zod compiles each schema that it is given. */
export function schemasAt(now: number) {
  const latest = now / 1000 + CLOCK_AHEAD_SECONDS;
  const isPlausible = (record: { timestamp: number }): boolean => record.timestamp <= latest;
  return {
    system: SystemRecord.refine(isPlausible),
    validator: ValidatorRecord.refine(isPlausible),
    node: NodeRecord.refine(isPlausible),
  };
}

/** Returns how many records the page held, good or bad. */
async function takePage({ options, api, sweep, schemas }: Reading, { data }: MachineMetricsPage): Promise<number> {
  const system = data.system_metrics ?? [];
  const validator = data.validator_metrics ?? [];
  const node = data.node_metrics ?? [];
  for (const record of await api.records('machine_metrics', schemas.system, system)) {
    take(sweep, options, 'system', record);
  }
  for (const record of await api.records('machine_metrics', schemas.validator, validator)) {
    take(sweep, options, 'validator', record);
  }
  for (const record of await api.records('machine_metrics', schemas.node, node)) {
    take(sweep, options, 'node', record);
  }
  return system.length + validator.length + node.length;
}
