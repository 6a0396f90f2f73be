import type { Api } from '../../api/client.ts';
import { CLOCK_AHEAD_SECONDS } from '../../lib/clock.ts';
import type { History, PastPage, PastRange, Span } from '../history.ts';
import { pastMachineFamilies } from './metrics.ts';
import { type MachinesOptions, machineName } from './options.ts';
import { requestPage } from './reading.ts';
import { type MachineRecord, PROCESSES } from './schema.ts';

/** The most pages that are read to estimate how many there are. */
const MAX_PROBES = 10;
/** Records over this time are sufficient for an estimate. The service may return only every n-th minute. */
const PROBED_SECONDS = 600;

/** The history of the machines, as far back as the service keeps it. */
export function machinesHistory(options: MachinesOptions): History<MachineRecord> {
  return {
    readPage: readPastPage,
    estimate: estimatePages,
    // The number of samples of a system record. The others have fewer.
    maxSamples: 20,
    isDaily: false,
    // The clock of the service may differ from those of its clients.
    reachSeconds: CLOCK_AHEAD_SECONDS,
    at: ([, record]) => record.timestamp,
    group: ([, record]) => machineName(record.machine),
    stream: ([process]) => process,
    families: (records) => pastMachineFamilies(options, records),
  };
}

async function readPastPage(
  api: Api,
  range: PastRange,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<PastPage<MachineRecord>> {
  if (!('start' in range)) throw new TypeError('machines have no evaluation windows');
  return requestPage(api, { range: { start: range.start, end: range.end }, cursor }, signal);
}

/** Reads the first pages of the newest range, and scales up the time that they cover. */
async function estimatePages(
  api: Api,
  ranges: readonly PastRange[],
  _now: number,
  signal: AbortSignal,
): Promise<number> {
  const spans = ranges.filter((range): range is Span => 'start' in range);
  // The last range may be shorter than the others.
  const longest = Math.max(...spans.map(({ start, end }) => end - start));
  const newest = spans.findLast(({ start, end }) => end - start === longest);
  if (!newest) return 0;
  const seconds = spans.reduce((sum, { start, end }) => sum + end - start, 0);
  const seen: MachineRecord[] = [];
  let cursor: string | undefined;
  for (let pages = 1; ; pages += 1) {
    const page = await readPastPage(api, newest, cursor, signal);
    seen.push(...page.records);
    if (!page.cursor)
      return Math.max(spans.length, Math.ceil((pages * seconds) / Math.max(1, newest.end - newest.start)));
    const covered = coveredSeconds(seen);
    const isEnough = covered >= PROBED_SECONDS || pages === MAX_PROBES;
    if (isEnough && covered > 0) return Math.max(spans.length, Math.ceil((pages * seconds) / covered));
    if (isEnough) return spans.length;
    cursor = page.cursor;
  }
}

/** The time covered by the process with the most records, which decides how many pages there are. */
function coveredSeconds(records: readonly MachineRecord[]): number {
  const spans = PROCESSES.flatMap((wanted) => {
    const times = records.filter(([process]) => process === wanted).map(([, record]) => record.timestamp);
    if (times.length < 2) return [];
    const [oldest, newest] = [Math.min(...times), Math.max(...times)];
    // The number of records is the number of gaps plus one.
    return [((newest - oldest) * times.length) / (times.length - 1)];
  });
  return spans.length === 0 ? 0 : Math.min(...spans);
}
