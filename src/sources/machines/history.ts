import type { MachineRecord } from '../../api/answers/machines.ts';
import type { Api } from '../../api/client.ts';
import { PAGE_SIZE, type PastRange, type Span } from '../../api/endpoints.ts';
import { eachPage } from '../../api/paginate.ts';
import { CLOCK_AHEAD_SECONDS } from '../../toolkit/lib/clock.ts';
import type { UnixSeconds } from '../../toolkit/lib/time.ts';
import type { History, Past } from '../history.ts';
import { afterRecords } from './learned.ts';
import { pastMachineFamilies } from './metrics.ts';
import { type MachinesOptions, machineName } from './options.ts';
import { RECORDS_KEPT_SECONDS, requestPage } from './pages.ts';
import { pastMachines } from './shown.ts';
import type { Machine } from './state.ts';

const MINUTE = 60;
const PROBE_EVERY_SECONDS = 6 * 3_600;
const MAX_PROBES = 10;
/** For a fleet of 1,000 machines. */
const MAX_PAGES_A_MINUTE = 100;
const NO_TIME: Span = { start: 0, end: 0 };

export const RECORDS_OF_MACHINES: Past = {
  what: 'machine metrics',
  endpoint: 'machine_metrics',
  isDaily: false,
  keptSeconds: RECORDS_KEPT_SECONDS,
  flags: ['full-resolution'],
};

export function machinesHistory(options: MachinesOptions): History<MachineRecord> {
  /** Each machine after its records so far. */
  const machines = new Map<string, Machine>();
  return {
    readPage: (api, range, cursor, signal) => requestPage(api, { range: spanOf(range), cursor }, signal),
    estimate: (api, ranges, _now, signal) => estimatePages(api, ranges, signal),
    // The clock of the service may differ from those of its clients.
    reachSeconds: CLOCK_AHEAD_SECONDS,
    at: ([, record]) => record.timestamp,
    group: ([, record]) => machineName(record.machine),
    stream: ([process]) => process,
    families(records) {
      const name = machineName(records[0]?.[1].machine);
      const before = machines.get(name) ?? { name };
      const after = afterRecords(before, records);
      machines.set(name, after);
      return pastMachineFamilies(pastMachines(options, records, before, after.learned?.chain));
    },
  };
}

function spanOf(range: PastRange): Span {
  if (!('start' in range)) throw new TypeError('machines have no evaluation windows');
  return range;
}

/**
 * Reads single minutes, spread over the whole time because fleets change. Then reads one machine over a whole range, which shows how many
 * minutes the service leaves out.
 */
async function estimatePages(api: Api, ranges: readonly PastRange[], signal: AbortSignal): Promise<number[]> {
  const spans = ranges.map(spanOf);
  const [{ start } = NO_TIME] = spans;
  const { end } = spans.at(-1) ?? NO_TIME;
  const probes = Math.min(MAX_PROBES, Math.ceil((end - start) / PROBE_EVERY_SECONDS));
  const minutes: MachineRecord[][] = [];
  for (let i = 0; i < probes; i += 1) {
    const at = Math.floor(start + ((i + 0.5) * (end - start)) / probes);
    minutes.push(await readMinute(api, at, signal));
  }
  const [newest] = minutes.findLast((records) => records.length > 0) ?? [];
  if (!newest) return spans.map(() => 1);
  const [process, { machine, timestamp }] = newest;
  const range = spans.find((span) => span.end >= timestamp) ?? NO_TIME;
  const page = await requestPage(api, { range, names: [machine ?? ''] }, signal);
  // The service may limit a page over all processes, or for each process: then a page of this machine has more.
  const perPage = Math.max(PAGE_SIZE, page.records.length);
  const times = page.records.flatMap(([one, record]) => (one === process ? [record.timestamp] : []));
  const pagesPerMinute = minutes.flat().length / probes / perPage / minutesBetween(times);
  return spans.map((span) => Math.max(1, Math.ceil((pagesPerMinute * (span.end - span.start)) / MINUTE)));
}

async function readMinute(api: Api, end: UnixSeconds, signal: AbortSignal): Promise<MachineRecord[]> {
  const range = { start: end - MINUTE + 1, end };
  const records: MachineRecord[] = [];
  await eachPage(async (cursor) => {
    const page = await requestPage(api, { range, cursor }, signal);
    records.push(...page.records);
    return page;
  }, MAX_PAGES_A_MINUTE);
  return records;
}

/** The minutes between records, without minutes that the machine missed. */
function minutesBetween(times: readonly UnixSeconds[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  const gaps = sorted.slice(1).map((time, i) => time - (sorted[i] ?? time));
  return gaps.length === 0 ? 1 : Math.max(1, Math.round(Math.min(...gaps) / MINUTE));
}
