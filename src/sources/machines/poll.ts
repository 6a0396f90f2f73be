import { ListedName, type MachineRecord, PROCESSES, RECORDS } from '../../api/answers/machines.ts';
import type { Api } from '../../api/client.ts';
import { type Query, requestTo, type Span } from '../../api/endpoints.ts';
import { isFailure, RequestFailed } from '../../api/errors.ts';
import { type Ending, eachPage } from '../../api/paginate.ts';
import { CLOCK_AHEAD_SECONDS } from '../../toolkit/lib/clock.ts';
import type { PastPage } from '../history.ts';
import { afterFailure, afterSuccess, isRefusal } from '../refusal.ts';
import type { Poll, PollContext, SourceEvent } from '../source.ts';
import { offlineAfter } from './conditions.ts';
import { isNameShared, isNetworkWithheld } from './learned.ts';
import { type MachinesOptions, machineName, staleAfter } from './options.ts';
import type { Machines } from './schema.ts';
import {
  type AbsentName,
  absentNames,
  addRecord,
  endSweep,
  failedListAt,
  isListDue,
  isPlausibleAt,
  noteNames,
  RECORDS_KEPT_SECONDS,
  rangeOf,
  rangeOfAbsent,
  type Sweep,
  type SweepRange,
  startSweep,
  unknownNames,
} from './sweep.ts';

interface SweepContext extends PollContext<MachinesOptions> {
  readonly sweep: Sweep;
}

/**
 * One sweep. It reads the new records, asks by name for live machines that are not among them, and then for names that
 * are not known. Records that were read before a failure are kept.
 */
export async function pollMachines(poll: PollContext<MachinesOptions>, previous: Machines): Promise<Poll<Machines>> {
  const { options, timing, signal, events } = poll;
  const silentMs = Math.min(staleAfter(options, timing), offlineAfter(timing) * 1000);
  const sweep = startSweep(options, previous, timing.now, silentMs);
  const context: SweepContext = { ...poll, sweep };
  try {
    await readNew(context);
    await listNames(context);
    await askUnknown(context);
    const value = endedSweep(context);
    if (value.dropped > 0 && previous.dropped === 0) warn(events, 'too_many_machines');
    return { value, events };
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    return { value: endedSweep(context), events, failure: error };
  }
}

type Warning = Exclude<Ending, 'end'> | 'too_many_machines' | 'network_counters_fell' | 'name_shared';

function warn(events: SourceEvent[], reason: Warning, machines?: readonly string[]): void {
  events.push({ type: 'sweep_warning', reason, machines });
}

function endedSweep({ options, sweep, timing: { now }, events }: SweepContext): Machines {
  const value = endSweep(sweep, options);
  for (const [reason, applies] of [
    ['network_counters_fell', isNetworkWithheld],
    ['name_shared', isNameShared],
  ] as const) {
    const machines = value.machines.filter(
      (machine) => applies(machine, now) && !applies(sweep.before.get(machine.name) ?? {}, now),
    );
    const names = machines.map(({ name }) => name);
    if (names.length > 0) warn(events, reason, names);
  }
  return value;
}

/** A sweep reads at most this many pages for late records: six minutes of fifty machines. */
const MAX_PAGES_WITH_LATE = 30;

async function readNew(context: SweepContext): Promise<void> {
  const { sweep, timing, events, api } = context;
  // By the clock of the service, which has the records: ours counts as right if it is up to a minute fast.
  const began = () => timing.now - Math.floor(api.fastMs() / 1000) * 1000;
  const range = rangeOf(sweep.progress, { ...timing, now: began() }, context.options.intervalMs);
  let pages = 0;
  const ending = await eachPage(async (cursor) => {
    const { records, count, cursor: next } = await readPage(context, range, undefined, cursor);
    pages += 1;
    // The newest records come first.
    const isLate = records.length > 0 && records.every(([, { timestamp }]) => timestamp < range.newFrom);
    return { cursor: isLate && pages >= MAX_PAGES_WITH_LATE ? undefined : next, count };
  });
  if (ending !== 'end') warn(events, ending);
  const lateAt = range.start < range.newFrom ? began() : sweep.progress.lateAt;
  const done = { ...sweep.progress, beganAt: Math.floor(began() / 1000), lateAt };
  try {
    await readAbsent(context, range);
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
async function readAbsent(context: SweepContext, range: SweepRange): Promise<void> {
  const { sweep, timing } = context;
  let absent = absentNames(sweep, timing);
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

/**
 * Requests the list of names, unless the service refuses it. A failed request counts as made, as one for a name does: an
 * immediate repetition could fail every sweep. A refusal fails none.
 */
async function listNames(context: SweepContext): Promise<void> {
  const { options, api, sweep, timing, signal } = context;
  if (!isListDue(sweep.progress, timing, options.intervalMs)) return;
  const { now } = timing;
  try {
    const { data } = await api.request(requestTo('machine_names', {}), signal);
    // A record is an object.
    const items = data.map((name) => ({ name }));
    const names = api.records('machine_names', ListedName, items).map(({ name }) => name);
    noteNames(sweep, options, names);
    sweep.progress = afterSuccess('machine_names', { ...sweep.progress, namesAt: now });
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    const { value } = afterFailure(context, 'machine_names', sweep.progress, error);
    sweep.progress = { ...value, namesAt: failedListAt(error, now) };
    if (!isRefusal(error)) throw error;
  }
}

async function askUnknown(context: SweepContext): Promise<void> {
  const { options, sweep, timing } = context;
  const { now } = timing;
  const end = Math.floor(now / 1000) + CLOCK_AHEAD_SECONDS;
  for (const name of unknownNames(sweep, options, now)) {
    try {
      await readPage(context, { start: end - RECORDS_KEPT_SECONDS, end }, [name]);
      sweep.asked.set(name, now);
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      // A failed name is requested again after the next list, or the next day if it is expected.
      if (isRefusal(error) || options.expected.includes(name)) sweep.asked.set(name, now);
      else sweep.asked.delete(name);
      if (!isRefusal(error)) throw error;
    }
  }
}

/**
 * Reads until at most `enough` of the absent machines are left, and returns these. The newest record of each comes before
 * the older ones. So reading also stops at a page that finds nobody, because it has only older records of others.
 */
async function readNewest(
  context: SweepContext,
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
    return { cursor: left.length <= enough || findsNobody ? undefined : page.cursor, count: page.count };
  });
  if (ending !== 'end') warn(context.events, ending);
  return isReadToEnd ? [] : left;
}

/** Reads one page into the sweep: the newest records of a range, or the page at the cursor. */
async function readPage(
  { options, api, sweep, signal }: SweepContext,
  range: Span,
  names?: readonly string[],
  cursor?: string,
): Promise<PastPage<MachineRecord>> {
  const page = await requestPage(api, { range, names, cursor }, signal);
  for (const record of page.records) addRecord(sweep, options, record);
  return page;
}

/** Drops records that are not plausible at the time of the answer. */
export async function requestPage(
  api: Api,
  query: Query<'machine_metrics'>,
  signal: AbortSignal,
): Promise<PastPage<MachineRecord>> {
  const { data, paging } = await api.request(requestTo('machine_metrics', query), signal);
  const records: MachineRecord[] = [];
  let count = 0;
  for (const process of PROCESSES) {
    const items = data[`${process}_metrics`] ?? [];
    count += items.length;
    const good = api.records('machine_metrics', RECORDS[process], items, isPlausibleAt(api.now()));
    for (const record of good) records.push([process, record] as MachineRecord);
  }
  return { cursor: paging?.next_cursor, records, count };
}
