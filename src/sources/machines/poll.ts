import type { Api } from '../../api/client.ts';
import type { Poll, Timing } from '../source.ts';
import { lookBack } from './lookback.ts';
import { type MachinesOptions, staleAfter } from './options.ts';
import {
  CLOCK_AHEAD_SECONDS,
  type Range,
  type Reading,
  readPage,
  readRange,
  schemasAt,
  type Warning,
} from './reading.ts';
import type { Machines } from './schema.ts';
import { type Batch, endSweep, namesToAsk, slices, startSweep } from './sweep.ts';

/** Clients push every 60 s, the standalone pusher every 62 (api facts 1.1). */
const SWEEP_SECONDS = 75;
const PUSH_SECONDS = 62;
/** As many records of a machine as one page holds. */
const TOGETHER_SECONDS = 600;

/**
 * One sweep: the last 75 seconds whole, then by name the machines that fell through, and at first those that were silent
 * before. What was gathered before a failure is kept.
 */
export async function pollMachines(
  options: MachinesOptions,
  api: Api,
  previous: Machines,
  timing: Timing,
  signal: AbortSignal,
  warn: (reason: Warning) => void,
): Promise<Poll<Machines>> {
  const { now } = timing;
  const staleMs = staleAfter(options, timing);
  const sweep = startSweep(options, previous, now);
  const reading: Reading = { options, api, sweep, now, warn, signal, schemas: schemasAt(now) };
  try {
    const seconds = Math.floor(now / 1000);
    const end = seconds + CLOCK_AHEAD_SECONDS;
    // Cursors of one sequence are serial: several ranges at once hide the latency of each.
    const ranges = slices({ start: seconds - SWEEP_SECONDS, end: seconds }, previous.machines.length).map((range) =>
      range.end === seconds ? { ...range, end } : range,
    );
    await allOf(ranges.map((range) => readRange(reading, range)));
    await askAbsent(reading, staleMs, seconds - SWEEP_SECONDS);
    let requestsOfOnce = 0;
    const counting: Api = {
      ...api,
      request(...call) {
        requestsOfOnce += 1;
        return api.request(...call);
      },
    };
    sweep.lookback = await lookBack({ ...reading, api: counting }, previous.lookback);
    if (sweep.dropped.size > 0 && previous.dropped === 0) warn('too_many_machines');
    return { value: endSweep(sweep), ...(requestsOfOnce > 0 ? { requestsOfOnce } : {}) };
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    return { value: endSweep(sweep), failure: error };
  }
}

/**
 * Asks by name for machines that were not in what was swept since `swept`: first for the minute before, in which nearly all
 * of them are, then for the rest back to what is held of them. All of it at once would be many records of each.
 */
async function askAbsent(reading: Reading, staleMs: number, swept: number): Promise<void> {
  const minute = swept - PUSH_SECONDS;
  const absent = (): Batch[] => namesToAsk(reading.sweep, staleMs, reading.now);
  await allOf(absent().map(({ names }) => readRange(reading, { start: minute, end: swept }, names)));
  await allOf(absent().flatMap(({ names, since }) => readBack(reading, names, { start: since, end: minute })));
}

function readBack(reading: Reading, names: string[], range: Range): Promise<unknown>[] {
  const seconds = range.end - range.start;
  if (seconds < 0) return [];
  if (seconds <= TOGETHER_SECONDS) return [readRange(reading, range, names)];
  // A stretched budget: hours of one machine would lie before the newest of another. The newest of one is its first page.
  return names.map((name) => readPage(reading, range, [name]));
}

/** Waits for every sequence before it throws the first failure: what the others still bring is kept. */
async function allOf(sequences: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(sequences);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}
