import type { Api } from '../api/client.ts';
import { type ApiRequest, ENDPOINTS, type Freshness, freshnessAfter, type Part } from '../api/endpoints.ts';
import { isFailure } from '../api/errors.ts';
import { isNoneFound, isRefusal } from '../api/refusal.ts';
import type { Inputs, Outcome, Read, ReadContext, SourceEvent } from '../sources/read.ts';
import type { Source } from '../sources/source.ts';
import { type Clock, pauseBetweenSlices } from '../toolkit/lib/clock.ts';
import type { MonotonicMs, UnixMs } from '../toolkit/lib/time.ts';
import { afterRun, hasEnded } from './attempts.ts';
import { afterRecovery, attemptOf, type Entry, withLeftOut } from './entry.ts';
import { isRefused, partOf, refusedUntil, withoutRefusal, withRefusal } from './refusals.ts';
import type { ReadSchedule, Schedule } from './schedules.ts';

/** The scheduler's own events, which every source has. */
export const PART_REFUSED = 'part_refused';
export const READ_ENDED = 'read_ended';

/** What is the same for all reads of a round. */
export interface RoundContext {
  readonly api: Api;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly inputs: Inputs;
  readonly signal: AbortSignal;
  /** The schedule of the source at a time, if this is its entry. */
  readonly scheduleOf: (entry: Entry, now: UnixMs) => Schedule;
  /** Whether any limit was known when the paces of these schedules were planned. */
  readonly isPaceKnown: boolean;
  /** When each read last began since a start, a reload or a takeover. */
  readonly tried: ReadonlyMap<string, MonotonicMs>;
  /** When the program started to know the source. */
  readonly startedAt: UnixMs;
  /** When the program is known to have run before. */
  readonly aliveAt: UnixMs | undefined;
}

/** How a run ended. A refused read is off, and does not fail. */
export interface Ended {
  readonly failure: Error | undefined;
  readonly isRefused: boolean;
}

export interface Round {
  readonly entry: Entry;
  readonly events: readonly SourceEvent[];
  /** The reads that ran, in order, and how each failed. */
  readonly runs: readonly (Ended & { readonly read: Read<unknown> })[];
}

/**
 * Runs the due reads in their order. All attempts have the time at which the round began. If the signal aborts, the round contains the
 * runs that ended before.
 */
export async function runRound(source: Source, current: Entry, context: RoundContext): Promise<Round> {
  const { clock, scheduleOf, isPaceKnown, signal } = context;
  const begun = { at: clock.now(), monotonic: clock.monotonic() };
  const events: SourceEvent[] = [];
  const runs: Round['runs'][number][] = [];
  const stop = stopBefore(current, context);
  let entry = current;
  for (const read of source.reads) {
    if (signal.aborted) break;
    // Earlier reads of the round, and their use of the budget, decide whether this read is due and permitted.
    const { reads, leftOut } = scheduleOf(entry, begun.at);
    const schedule = reads.find((one) => one.read === read);
    if (!schedule || schedule.mayRunAt > begun.at) continue;
    const { failuresInARow } = attemptOf(entry, read);
    const ran = await run({ ...context, stop }, begun, entry, schedule);
    if (!ran) break;
    const off = withLeftOut(ran.entry, isPaceKnown ? leftOut : []);
    entry = { ...off, leftOut: off.leftOut.filter((name) => name !== read.name) };
    events.push(...ran.events);
    runs.push({ read, failure: ran.failure, isRefused: ran.isRefused });
    const isRecovered = !ran.isRefused && attemptOf(entry, read).failuresInARow < failuresInARow;
    if (isRecovered) entry = afterRecovery(entry, new Set(runs.map((one) => one.read.name)));
  }
  return { entry, events, runs };
}

type Ran = Pick<Round, 'entry' | 'events'> & Ended;

/** Runs one read and measures it. Undefined: the run was aborted. */
async function run(
  { api, clock, inputs, signal, tried, isPaceKnown, stop }: RoundContext & Pick<ReadContext, 'stop'>,
  begun: { readonly at: UnixMs; readonly monotonic: MonotonicMs },
  before: Entry,
  { read, pace, timing }: ReadSchedule,
): Promise<Ran | undefined> {
  const attempt = attemptOf(before, read);
  // A read may run at the pace of a late read beside it. A longer gap means that the program slept or was not allowed to ask.
  const longestMs = Math.max(timing.intervalMs, ...pace.beside.map((name) => timing.of(name) ?? 0));
  const events: SourceEvent[] = [];
  const noted = notedApi(api, read, before, inputs, events);
  const start = clock.monotonic();
  const context: ReadContext = {
    api: noted.api,
    timing,
    signal,
    inputs,
    ownMs: Math.min(longestMs, begun.monotonic - (tried.get(read.name) ?? begun.monotonic)),
    agingMs: Math.max(timing.intervalMs, attempt.intervalMs ?? 0),
    isFirst: !tried.has(read.name),
    stop,
    wasLeftOut: before.leftOut.includes(read.name),
    isRefused: noted.isRefused,
    slices: () => pauseBetweenSlices(clock),
    events,
  };
  let outcome: Outcome<unknown>;
  try {
    outcome = await read.run(context, before.value);
  } catch (error) {
    if (signal.aborted) return undefined;
    outcome = { value: before.value, failure: error instanceof Error ? error : new Error(String(error)) };
  }
  const { value, failure: failed } = outcome;
  const isOff = isRefusal(failed) && noted.isRefused(partOf(failed.endpoint));
  const failure = isOff ? undefined : failed;
  const durationMs = clock.monotonic() - start;
  const measured = {
    roundAt: begun.at,
    end: begun.at + clock.monotonic() - begun.monotonic,
    durationMs,
    // The read works with the time at which the round began.
    stepMs: clock.now() - begun.at - (clock.monotonic() - begun.monotonic),
    requests: noted.requests(),
    freshness: noted.freshness(),
    pace: isPaceKnown ? pace : undefined,
    failure,
    isRefused: isOff,
    isNotFound: noted.isNotFound(failure),
  };
  const after = afterRun(attempt, measured);
  if (hasEnded(after) && !hasEnded(attempt)) events.push({ type: READ_ENDED, read: read.name, err: failure?.message });
  const reads = { ...before.reads, [read.name]: after };
  return { entry: { ...before, value, reads, refusals: noted.refusals() }, failure, isRefused: isOff, events };
}

/** Since the last sign of life of the process before. A reload or a takeover is no start: this process ran before that sign. */
function stopBefore({ reads }: Entry, { tried, startedAt, aliveAt = 0 }: RoundContext): ReadContext['stop'] {
  const attempts = Object.values(reads).flatMap(({ lastAttemptAt }) => lastAttemptAt ?? []);
  const from = Math.max(aliveAt, ...attempts);
  return tried.size > 0 || attempts.length === 0 || from >= startedAt ? undefined : { from, to: startedAt };
}

/** The service as one run uses it. Counts requests, and notes refusals of optional parts and the ages of responses. */
function notedApi(api: Api, read: Read<unknown>, before: Entry, inputs: Inputs, events: SourceEvent[]) {
  const { endpoints } = read;
  const [first] = endpoints;
  const last = attemptOf(before, read);
  let [requests, refusals, isFound] = [0, before.refusals, false];
  let freshness: Freshness = {};

  /** Whether the part is off now. A refused part is requested again a day after its last attempt. */
  function isOffNow(part: Part | undefined): boolean {
    return refusedUntil(refusals, part, api.now()) > api.now();
  }

  function note(part: Part, request: ApiRequest, error: unknown): void {
    if (isNoneFound(error)) refusals = withoutRefusal(refusals, part);
    if (!isRefusal(error, request)) return;
    const wasRefused = isRefused(refusals, part);
    refusals = withRefusal(refusals, part, error, api.now());
    if (!wasRefused && isRefused(refusals, part)) events.push({ type: PART_REFUSED, part, err: error.message });
  }

  /** Whether the first endpoint is one of v1 and found nothing. An optional part counts as refused instead. */
  function isNotFound(failure: unknown): boolean {
    const { part, body } = ENDPOINTS[first];
    return isFailure(failure, 'not_found') && failure.endpoint === first && !part && !body && !isFound;
  }

  const noted: Api = {
    ...api,
    async request(request, signal) {
      requests += 1;
      // The other source notes its own parts.
      const { endpoint } = request;
      const part = endpoints.includes(endpoint) ? partOf(endpoint) : undefined;
      try {
        const answer = await api.request(request, signal);
        if (part) refusals = withoutRefusal(refusals, part);
        isFound ||= endpoint === first;
        const known = { ...last, ...freshness };
        freshness = { ...freshness, ...freshnessAfter(known, request, answer, api.now(), inputs.finality) };
        return answer;
      } catch (error) {
        if (signal.aborted) throw error;
        if (part) note(part, request, error);
        throw error;
      }
    },
  };
  return {
    api: noted,
    requests: () => requests,
    refusals: () => refusals,
    isNotFound,
    freshness: () => freshness,
    isRefused: isOffNow,
  };
}
