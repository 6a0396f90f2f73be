import type { Api } from '../../api/client.ts';
import { CLOCK_AHEAD_SECONDS } from '../../lib/clock.ts';
import type { Poll, Timing } from '../source.ts';
import { lookBack } from './lookback.ts';
import { lastSeen, type MachinesOptions, staleAfter } from './options.ts';
import { type LateRange, lateRange, mainStart, NO_REACH, nextReach } from './reach.ts';
import { type Range, type Reading, readPage, readRange, schemasAt, type Warning } from './reading.ts';
import type { Machine, Machines } from './schema.ts';
import { type Batch, endSweep, namesToAsk, PAGES_TO_CUT, slices, startSweep } from './sweep.ts';

const PUSH_SECONDS = 62;
/** As many records of a machine as one page holds. */
const TOGETHER_SECONDS = 600;

/**
 * One sweep: what came since the one before, then by name the machines that fell through, a part of what may have come
 * late, and at first the machines that were silent before. What was gathered before a failure is kept.
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
  const sweep = startSweep(options, previous, now, staleMs);
  const counter = countingApi(api);
  const reading: Reading = { options, api: counter.api, sweep, now, warn, signal, schemas: schemasAt(now) };
  try {
    await readNew(reading, counter, staleMs);
    const once = countingApi(api);
    sweep.lookback = await lookBack({ ...reading, api: once.api }, previous.lookback);
    if (sweep.dropped.size > 0 && previous.dropped === 0) warn('too_many_machines');
    return { value: endSweep(sweep), ...(once.requests() > 0 ? { oneTimeRequests: once.requests() } : {}) };
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    return { value: endSweep(sweep), failure: error };
  }
}

interface Counter {
  readonly api: Api;
  readonly requests: () => number;
}

function countingApi(api: Api): Counter {
  let requests = 0;
  const counting: Api = {
    ...api,
    request(...call) {
      requests += 1;
      return api.request(...call);
    },
  };
  return { api: counting, requests: () => requests };
}

/** Reads what is new. Once all of it is read, the next sweep begins where this one began. */
async function readNew(reading: Reading, { requests }: Counter, staleMs: number): Promise<void> {
  const { sweep, now } = reading;
  const { reach = NO_REACH } = sweep;
  const seconds = Math.floor(now / 1000);
  const isLive = (machine: Machine): boolean => now - lastSeen(machine) * 1000 <= staleMs;
  const liveMachines = (): number => [...sweep.machines.values()].filter(isLive).length;
  const start = mainStart(reach, liveMachines(), seconds);
  // Cursors of one sequence are serial: several ranges at once hide the latency of each.
  const ranges = slices({ start, end: seconds }, liveMachines()).map((range) =>
    range.end === seconds ? { ...range, end: seconds + CLOCK_AHEAD_SECONDS } : range,
  );
  await allOf(ranges.map((range) => readRange(reading, range)));
  const main = { requests: requests(), records: Math.max(...Object.values(sweep.records)), start };
  const ages = [...sweep.found].map((name) => seconds - lastSeen(sweep.machines.get(name) ?? { name }));
  // Who is not in the minute before is asked for once more.
  const named = 2 * namesToAsk(sweep, staleMs, now).length;
  const late = lateRange(reach, { ...main, live: liveMachines(), named }, seconds);
  // What is found there may be old: the newest of such a machine is asked for like that of others that were not found.
  if (late) await readLate({ ...reading, sweep: { ...sweep, found: new Set() } }, late);
  await askAbsent(reading, staleMs, start);
  sweep.reach = nextReach(reach, seconds, ages, late);
}

async function readLate(reading: Reading, { pages, ...range }: LateRange): Promise<void> {
  const parts = pages < PAGES_TO_CUT ? [range] : slices(range, Number.POSITIVE_INFINITY);
  await allOf(parts.map((part) => readPages(reading, part, Math.ceil(pages / parts.length))));
}

async function readPages(reading: Reading, range: Range, pages: number): Promise<void> {
  let cursor: string | null | undefined;
  for (let page = 0; page < pages; page += 1) {
    ({ cursor } = await readPage(reading, range, undefined, cursor ?? undefined));
    if (!cursor) return;
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
