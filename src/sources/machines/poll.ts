import { ListedName, type MachineRecord, PROCESSES, type ProcessRecord, RECORDS } from '../../api/answers/machines.ts';
import type { Api } from '../../api/client.ts';
import { type Query, requestTo, type Span } from '../../api/endpoints.ts';
import { isFailure, RequestFailed } from '../../api/errors.ts';
import { eachPage } from '../../api/paginate.ts';
import { CLOCK_AHEAD_SECONDS } from '../../toolkit/lib/clock.ts';
import type { Milliseconds, UnixMs } from '../../toolkit/lib/time.ts';
import type { PastPage } from '../history.ts';
import { afterFailure, isRefusal, refusedUntil } from '../refusal.ts';
import type { Poll, SourceEvent, Timing } from '../source.ts';
import { offlineAfter } from './conditions.ts';
import { isNameShared, isNetworkWithheld } from './learned.ts';
import { type MachinesOptions, machineName, staleAfter, type Warning } from './options.ts';
import type { Machines } from './schema.ts';
import {
  type AbsentName,
  absentNames,
  addRecord,
  endSweep,
  isListDue,
  listedAt,
  noteNames,
  RECORDS_KEPT_SECONDS,
  rangeOf,
  rangeOfAbsent,
  type Sweep,
  type SweepRange,
  startSweep,
  unknownNames,
} from './sweep.ts';

/** The context of all requests of one sweep. */
interface Context {
  readonly options: MachinesOptions;
  readonly api: Api;
  readonly sweep: Sweep;
  readonly timing: Timing;
  readonly signal: AbortSignal;
  /** Notes a warning. `machines`: those to which it applies, if not to all. */
  readonly warn: (reason: Warning, machines?: readonly string[]) => void;
}

/**
 * One sweep. It reads the new records, asks by name for live machines that are not among them, and then for names that
 * are not known. Records that were read before a failure are kept.
 */
export async function pollMachines(
  options: MachinesOptions,
  api: Api,
  previous: Machines,
  timing: Timing,
  signal: AbortSignal,
): Promise<Poll<Machines>> {
  const { now } = timing;
  const events: SourceEvent[] = [];
  const warn: Context['warn'] = (reason, machines) => events.push({ type: 'sweep_warning', reason, machines });
  const silentMs = Math.min(staleAfter(options, timing), offlineAfter(timing) * 1000);
  const sweep = startSweep(options, previous, now, silentMs);
  const context: Context = { options, api, sweep, timing, signal, warn };
  try {
    await readNew(context, silentMs);
    await listNames(context);
    await askUnknown(context);
    if (sweep.dropped.size > 0 && previous.dropped === 0) warn('too_many_machines');
    return { value: endedSweep(context), events };
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    return { value: endedSweep(context), events, failure: error };
  }
}

function endedSweep({ sweep, timing: { now }, warn }: Context): Machines {
  const value = endSweep(sweep);
  for (const [reason, applies] of [
    ['network_counters_fell', isNetworkWithheld],
    ['name_shared', isNameShared],
  ] as const) {
    const machines = value.machines.filter(
      (machine) => applies(machine, now) && !applies(sweep.before.get(machine.name) ?? {}, now),
    );
    const names = machines.map(({ name }) => name);
    if (names.length > 0) warn(reason, names);
  }
  return value;
}

/** A sweep reads at most this many pages for late records: six minutes of fifty machines. */
const MAX_PAGES_WITH_LATE = 30;

async function readNew(context: Context, silentMs: Milliseconds): Promise<void> {
  const { sweep, timing, warn } = context;
  const { now } = timing;
  const range = rangeOf(sweep.progress, timing, context.options.intervalMs);
  let pages = 0;
  const ending = await eachPage(async (cursor) => {
    const { records, count, cursor: next } = await readPage(context, range, undefined, cursor);
    pages += 1;
    // The newest records come first.
    const isLate = records.length > 0 && records.every(([, { timestamp }]) => timestamp < range.newFrom);
    return { cursor: isLate && pages >= MAX_PAGES_WITH_LATE ? undefined : next, records: count };
  });
  if (ending !== 'end') warn(ending);
  const lateAt = range.start < range.newFrom ? now : sweep.progress.lateAt;
  const done = { ...sweep.progress, beganAt: Math.floor(now / 1000), lateAt };
  try {
    await readAbsent(context, range, silentMs);
  } catch (error) {
    // A name that the service does not take would fail every sweep, if its machine stayed among those to be requested.
    if (isRefusal(error) || isFailure(error, 'bad_request')) sweep.progress = done;
    throw error;
  }
  sweep.progress = done;
}

/** The `machines` filter takes this many names (api-facts 2). */
const NAMES_PER_REQUEST = 20;

/** Looks for live machines that the sweep has not found: by name, or among all if most are missing. */
async function readAbsent(context: Context, range: SweepRange, silentMs: Milliseconds): Promise<void> {
  const { sweep, timing } = context;
  let absent = absentNames(sweep, silentMs, timing);
  const half = sweep.live.length / 2;
  if (absent.length > half) absent = await readNewest(context, absent, range, Math.min(half, NAMES_PER_REQUEST));
  for (let i = 0; i < absent.length; i += NAMES_PER_REQUEST) {
    let left = absent.slice(i, i + NAMES_PER_REQUEST);
    for (let before = Number.POSITIVE_INFINITY; left.length > 0 && left.length < before; ) {
      before = left.length;
      const names = left.map(({ name }) => name);
      left = await readNewest(context, left, range, 0, names);
    }
  }
}

/** Requests the list of names, unless the service refuses it. */
async function listNames({ options, api, sweep, timing, signal, warn }: Context): Promise<void> {
  const { now } = timing;
  const { namesRefusal: before } = sweep.progress;
  if (!isListDue(sweep.progress, timing, options.intervalMs)) return;
  const ask = async (): Promise<void> => {
    const { data } = await api.request(requestTo('machine_names', {}), signal);
    // A record is an object.
    const items = data.map((name) => ({ name }));
    const names = api.records('machine_names', ListedName, items).map(({ name }) => name);
    noteNames(sweep, options, names);
  };
  const refusal = await askOnce(ask, (isFailed) => {
    sweep.progress = { ...sweep.progress, namesAt: listedAt(now, isFailed) };
  });
  const namesRefusal = refusal && afterFailure(before, refusal, now);
  sweep.progress = { ...sweep.progress, namesRefusal };
  if (refusedUntil(before) === 0 && refusedUntil(namesRefusal) > 0) warn('names_refused');
}

async function askUnknown(context: Context): Promise<void> {
  const { options, sweep, timing } = context;
  const { now } = timing;
  const end = Math.floor(now / 1000) + CLOCK_AHEAD_SECONDS;
  for (const name of unknownNames(sweep, options, now)) {
    await askOnce(
      () => readPage(context, { start: end - RECORDS_KEPT_SECONDS, end }, [name]),
      // A failed name is requested again after the next list, or the next day if it is expected.
      (isFailed) => {
        if (isFailed && !options.expected.includes(name)) sweep.asked.delete(name);
        else sweep.asked.set(name, now);
      },
    );
  }
}

/**
 * Sends a request that only some sweeps make. It counts as done even if it fails: an immediate repetition could fail
 * every sweep. A refusal is returned, because it does not fail the sweep.
 */
async function askOnce(
  ask: () => Promise<unknown>,
  done: (isFailed: boolean) => void,
): Promise<RequestFailed | undefined> {
  try {
    await ask();
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    done(!isRefusal(error));
    if (!isRefusal(error)) throw error;
    return error;
  }
  done(false);
  return undefined;
}

/**
 * Reads until at most `enough` of the absent machines are left, and returns these. The newest record of each comes before
 * the older ones. So reading also stops at a page that finds nobody, because it has only older records of others.
 */
async function readNewest(
  context: Context,
  absent: readonly AbsentName[],
  sweepRange: SweepRange,
  enough: number,
  names?: readonly string[],
): Promise<AbsentName[]> {
  const range = rangeOfAbsent(absent, sweepRange, context.timing.now);
  let left = [...absent];
  let isReadToEnd = false;
  const ending = await eachPage(async (cursor) => {
    const page = await readPage(context, range, names, cursor);
    const before = left.length;
    left = left.filter(({ name }) => !context.sweep.found.has(machineName(name)));
    const findsNobody = page.records.length > 0 && left.length === before;
    isReadToEnd = !page.cursor;
    return { cursor: left.length <= enough || findsNobody ? undefined : page.cursor, records: page.count };
  });
  if (ending !== 'end') context.warn(ending);
  return isReadToEnd ? [] : left;
}

/** Reads one page into the sweep: the newest records of a range, or the page at the cursor. */
async function readPage(
  { options, api, sweep, timing, signal }: Context,
  { start, end }: Span,
  names?: readonly string[],
  cursor?: string,
): Promise<PastPage<MachineRecord>> {
  const page = await requestPage(api, { range: { start, end }, names, cursor }, signal, isPlausibleAt(timing.now));
  for (const record of page.records) addRecord(sweep, options, record);
  return page;
}

/** Reads one page, record by record. */
export async function requestPage(
  api: Api,
  query: Query<'machine_metrics'>,
  signal: AbortSignal,
  isPlausible?: (record: ProcessRecord) => boolean,
): Promise<PastPage<MachineRecord>> {
  const { data, paging } = await api.request(requestTo('machine_metrics', query), signal);
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
