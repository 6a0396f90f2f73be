import type { Api } from '../../api/client.ts';
import { type Ending, eachPage, type ReadPage } from '../../api/paginate.ts';
import { CLOCK_AHEAD_SECONDS } from '../../lib/clock.ts';
import type { Span } from '../history.ts';
import { type MachinesOptions, RECORDS_PER_PAGE } from './options.ts';
import { MachineMetricsPage, NodeRecord, SystemRecord, ValidatorRecord } from './schema.ts';
import { addRecord, type Sweep } from './sweep.ts';

/** Why data may be missing after a sweep that did not fail. */
export type Warning = Exclude<Ending, 'end'> | 'too_many_machines';

/** What the requests of one sweep share. */
export interface SweepContext {
  readonly options: MachinesOptions;
  readonly api: Api;
  readonly sweep: Sweep;
  readonly signal: AbortSignal;
  readonly warn: (reason: Warning) => void;
  /** Unix ms. */
  readonly now: number;
  readonly schemas: ReturnType<typeof schemasAt>;
}

/** Reads every record of a range into the sweep, of these machines or of all. */
export async function readRange(context: SweepContext, range: Span, names?: readonly string[]): Promise<void> {
  const ending = await eachPage((cursor) => readPage(context, range, names, cursor));
  if (ending !== 'end') context.warn(ending);
}

/** Reads one page into the sweep: the newest records of a range, or the page at the cursor. */
export async function readPage(
  context: SweepContext,
  range: Span,
  names?: readonly string[],
  cursor?: string,
): Promise<ReadPage> {
  const page = await requestPage(context.api, { range, names, cursor }, context.signal);
  return { cursor: page.paging?.next_cursor, records: await addPage(context, page) };
}

export interface PageQuery {
  readonly range: Span;
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

/** The schemas of records that are plausible at `now`. Made once for each sweep, because zod compiles every new schema. */
export function schemasAt(now: number) {
  const latest = now / 1000 + CLOCK_AHEAD_SECONDS;
  const isPlausible = (record: { timestamp: number }): boolean => record.timestamp <= latest;
  return {
    system: SystemRecord.refine(isPlausible),
    validator: ValidatorRecord.refine(isPlausible),
    node: NodeRecord.refine(isPlausible),
  };
}

/** Returns how many records the page has, readable or not. */
async function addPage({ options, api, sweep, schemas }: SweepContext, { data }: MachineMetricsPage): Promise<number> {
  const system = data.system_metrics ?? [];
  const validator = data.validator_metrics ?? [];
  const node = data.node_metrics ?? [];
  for (const record of await api.records('machine_metrics', schemas.system, system)) {
    addRecord(sweep, options, 'system', record);
  }
  for (const record of await api.records('machine_metrics', schemas.validator, validator)) {
    addRecord(sweep, options, 'validator', record);
  }
  for (const record of await api.records('machine_metrics', schemas.node, node)) {
    addRecord(sweep, options, 'node', record);
  }
  return system.length + validator.length + node.length;
}
