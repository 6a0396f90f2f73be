import { type Api, type CountingApi, countingApi } from '../../api/client.ts';
import { eachPage } from '../../api/paginate.ts';
import { CLOCK_AHEAD_SECONDS } from '../../lib/clock.ts';
import type { Span } from '../history.ts';
import type { Poll, Timing } from '../source.ts';
import { isNetworkWithheld } from './learned.ts';
import { lookBack } from './lookback.ts';
import { MAX_PUSH_SECONDS, type MachinesOptions } from './options.ts';
import { isLate, type LateRange, lateRange, mainStart, NO_REACH, nextReach } from './reach.ts';
import { isPlausibleAt, readPage, readRange, type SweepContext, type Warn } from './reading.ts';
import type { Machine, Machines } from './schema.ts';
import { lastSeen, staleAfter } from './shown.ts';
import { type Batch, endSweep, MIN_PAGES_TO_SPLIT, namesToAsk, type Sweep, splitRange, startSweep } from './sweep.ts';

/** One page holds the records of one machine over this time. */
const TOGETHER_SECONDS = 600;

/**
 * One sweep. It reads the new records and a part of those that may have come late, then asks by name for the machines
 * that are still missing. The first sweeps also look for machines that were silent before. Records that were read
 * before a failure are kept.
 */
export async function pollMachines(
  options: MachinesOptions,
  api: Api,
  previous: Machines,
  timing: Timing,
  signal: AbortSignal,
  warn: Warn,
): Promise<Poll<Machines>> {
  const { now } = timing;
  const staleMs = staleAfter(options, timing);
  const sweep = startSweep(options, previous, now, staleMs);
  const counter = countingApi(api);
  const context: SweepContext = {
    options,
    api: counter.api,
    sweep,
    now,
    warn,
    signal,
    isPlausible: isPlausibleAt(now),
  };
  const end = (): Machines => {
    const value = endSweep(sweep);
    const withheld = value.machines.filter(
      (machine) => isNetworkWithheld(machine, now) && !isNetworkWithheld(sweep.before.get(machine.name) ?? {}, now),
    );
    if (withheld.length > 0)
      warn(
        'network_counters_fell',
        withheld.map(({ name }) => name),
      );
    return value;
  };
  try {
    await readNew(context, counter, staleMs);
    const once = countingApi(api);
    await lookBack({ ...context, api: once.api });
    if (sweep.dropped.size > 0 && previous.dropped === 0) warn('too_many_machines');
    return { value: end(), ...(once.requests() > 0 ? { oneTimeRequests: once.requests() } : {}) };
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    return { value: end(), failure: error };
  }
}

/** Reads the new records. Once all of them are read, the next sweep starts where this one started. */
async function readNew(context: SweepContext, { requests }: CountingApi, staleMs: number): Promise<void> {
  const { sweep, now } = context;
  const { reach = NO_REACH } = sweep;
  const seconds = Math.floor(now / 1000);
  const isLive = (machine: Machine): boolean => now - lastSeen(machine) * 1000 <= staleMs;
  const liveMachines = (): number => [...sweep.machines.values()].filter(isLive).length;
  const start = mainStart(reach, liveMachines(), seconds);
  // A page needs the cursor of the one before. Two ranges at once hide the latency of each.
  const ranges = splitRange({ start, end: seconds }, liveMachines()).map((range) =>
    range.end === seconds ? { ...range, end: seconds + CLOCK_AHEAD_SECONDS } : range,
  );
  await allOf(ranges.map((range) => readRange(context, range)));
  const main = { requests: requests(), records: Math.max(...Object.values(sweep.records)), start };
  const ages = agesOf(sweep, seconds);
  // Counted twice, because a machine that is not in the minute before is requested again.
  const named = 2 * namesToAsk(sweep, start, staleMs, now).length;
  const late = lateRange(reach, { ...main, live: liveMachines(), named }, seconds);
  // A late record may be old. Therefore a machine that is found only there does not count as found, and is requested by
  // name.
  if (late) await readLate({ ...context, sweep: { ...sweep, found: new Set() } }, late);
  await askAbsent(context, staleMs, start);
  // If the range was empty, the machines that were requested by name show how late records come.
  sweep.reach = nextReach(reach, seconds, ages.length > 0 ? ages : agesOf(sweep, seconds).filter(isLate), late);
}

/** Seconds since the newest record of each machine found. */
function agesOf({ found, machines }: Sweep, seconds: number): number[] {
  return [...found].map((name) => seconds - lastSeen(machines.get(name) ?? { name }));
}

async function readLate(context: SweepContext, { pages, ...range }: LateRange): Promise<void> {
  const parts = pages < MIN_PAGES_TO_SPLIT ? [range] : splitRange(range, Number.POSITIVE_INFINITY);
  const maxPages = Math.ceil(pages / parts.length);
  await allOf(parts.map((part) => eachPage((cursor) => readPage(context, part, undefined, cursor), maxPages)));
}

/**
 * Requests machines without a record since `swept` by name: first in the minute before it, where nearly all of them
 * are, then the others back to the newest known record. Requesting the whole time at once would return many records of
 * each.
 */
async function askAbsent(context: SweepContext, staleMs: number, swept: number): Promise<void> {
  const minute = swept - MAX_PUSH_SECONDS;
  const absent = (): Batch[] => namesToAsk(context.sweep, swept, staleMs, context.now);
  await allOf(absent().map(({ names }) => readRange(context, { start: minute, end: swept }, names)));
  await allOf(absent().flatMap(({ names, since }) => readBack(context, names, { start: since, end: minute })));
}

function readBack(context: SweepContext, names: string[], range: Span): Promise<unknown>[] {
  const seconds = range.end - range.start;
  if (seconds < 0) return [];
  if (seconds <= TOGETHER_SECONDS) return [readRange(context, range, names)];
  // In one request, hours of records of one machine could come before the newest record of another. If a machine is
  // requested alone, its newest record is on the first page.
  return names.map((name) => readPage(context, range, [name]));
}

/** Waits for all sequences before it throws the first failure, so that the records of the others are kept. */
async function allOf(sequences: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(sequences);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}
