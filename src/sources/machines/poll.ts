import type { Api } from '../../api/client.ts';
import { type Ending, eachPage } from '../../api/paginate.ts';
import type { Poll, Timing } from '../source.ts';
import { type MachinesOptions, staleAfter } from './options.ts';
import { MachineMetricsPage, type Machines, NodeRecord, SystemRecord, ValidatorRecord } from './schema.ts';
import { endSweep, namesToAsk, type Sweep, startSweep, take } from './sweep.ts';

/** Clients push every 60 s, the standalone pusher every 62 (api facts 1.1). */
const SWEEP_SECONDS = 75;
/** How far a client's clock may be ahead of ours; beyond it a record is a bad record. */
export const CLOCK_AHEAD_SECONDS = 300;
const PAGE_SIZE = 10;

interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * One sweep: the last 75 seconds whole, then by name the machines that fell through. What was gathered before a failure
 * is kept.
 */
export async function pollMachines(
  options: MachinesOptions,
  api: Api,
  previous: Machines,
  timing: Timing,
  signal: AbortSignal,
  warn: (ending: Ending) => void,
): Promise<Poll<Machines>> {
  const { now } = timing;
  const seconds = Math.floor(now / 1000);
  const staleMs = staleAfter(options, timing);
  const sweep = startSweep(options, previous, now);
  const read = (range: Range, names?: readonly string[]): Promise<void> =>
    readRange({ options, api, sweep, signal, warn, now }, range, names);
  try {
    const end = seconds + CLOCK_AHEAD_SECONDS;
    await read({ start: seconds - SWEEP_SECONDS, end });
    const start = Math.floor((now - staleMs) / 1000);
    for (const names of namesToAsk(sweep, staleMs, now)) await read({ start, end }, names);
    return { value: endSweep(sweep) };
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    return { value: endSweep(sweep), failure: error };
  }
}

interface Reading {
  readonly options: MachinesOptions;
  readonly api: Api;
  readonly sweep: Sweep;
  readonly signal: AbortSignal;
  readonly warn: (ending: Ending) => void;
  readonly now: number;
}

async function readRange(reading: Reading, range: Range, names?: readonly string[]): Promise<void> {
  const { api, signal } = reading;
  const ending = await eachPage(async (cursor) => {
    const body = {
      range: { timestamp: range },
      ...(names ? { machines: names } : {}),
      page_size: PAGE_SIZE,
      ...(cursor === undefined ? {} : { cursor }),
    };
    const page = await api.request(
      { endpoint: 'machine_metrics', priority: 'machines', path: '/api/v2/machine-metrics', body },
      MachineMetricsPage,
      signal,
    );
    return { cursor: page.paging?.next_cursor, records: takePage(reading, page) };
  });
  if (ending !== 'end') reading.warn(ending);
}

/** Returns how many records the page held, good or bad. */
function takePage({ options, api, sweep, now }: Reading, { data }: MachineMetricsPage): number {
  const latest = now / 1000 + CLOCK_AHEAD_SECONDS;
  const plausible = (record: { timestamp: number }): boolean => record.timestamp <= latest;
  const system = data.system_metrics ?? [];
  const validator = data.validator_metrics ?? [];
  const node = data.node_metrics ?? [];
  for (const record of api.records('machine_metrics', SystemRecord.refine(plausible), system)) {
    take(sweep, options, 'system', record);
  }
  for (const record of api.records('machine_metrics', ValidatorRecord.refine(plausible), validator)) {
    take(sweep, options, 'validator', record);
  }
  for (const record of api.records('machine_metrics', NodeRecord.refine(plausible), node)) {
    take(sweep, options, 'node', record);
  }
  return system.length + validator.length + node.length;
}
