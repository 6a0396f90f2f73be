import type { ZodType } from 'zod';
import type { Api } from '../api/client.ts';
import type { Endpoint, Part } from '../api/endpoints.ts';
import type { Chain } from '../facts/chain.ts';
import type { Family } from '../toolkit/exposition/family.ts';
import { MS_PER_DAY } from '../toolkit/lib/duration.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import type { Linked, Summary } from './content.ts';
import type { History } from './history.ts';

/** A source is polled at least once a month, even on a tiny budget. */
const MAX_INTERVAL_MS = 31 * MS_PER_DAY;

export interface Timing {
  readonly now: UnixMs;
  /** The effective interval between polls, or that of the last poll while it was longer. */
  readonly intervalMs: Milliseconds;
  readonly coverage: Coverage;
}

/**
 * How much of the chain the budget lets the slashings source read: head and every finalized epoch; no head passes; or
 * not even every finalized epoch.
 */
export const COVERAGES = ['full', 'finalized', 'sampled'] as const;
export type Coverage = (typeof COVERAGES)[number];

/** How often a source runs, what that costs, and how much of the chain it can cover. */
export interface Pace {
  readonly intervalMs: Milliseconds;
  readonly requestsPerDay: number;
  readonly coverage: Coverage;
}

export interface Attempts {
  readonly lastAttemptAt: UnixMs;
  readonly failuresInARow: number;
  readonly durationMs: Milliseconds;
}

/**
 * The inputs of alerts on the data of a source. They are evaluated at the last successful poll, not at the current
 * time.
 */
export interface Polls {
  readonly lastSuccessAt?: UnixMs | undefined;
  /** The effective interval between polls, as shown on /metrics. */
  readonly intervalMs: Milliseconds;
}

/**
 * A fact that a poll has found, as plain data. It is logged when the value that contains it has been saved: a poll that
 * is aborted has no events, and the next one finds them.
 */
export type SourceEvent = Readonly<
  /** `validators`: at most 20 of `count`, the watched ones first. */
  | { type: 'slashing'; slot: number; kind: string; validators: readonly number[]; count: number; watched: number }
  | { type: 'missed_proposal'; slot: number; validator: number; status: string }
  /** Proposer slashings are counted without their validators, although names are requested. */
  | { type: 'names_unreadable'; err: string }
  /** Seats are not counted, because the members of the period are not known. */
  | { type: 'members_unknown'; period: number }
  /** Finalized epochs were skipped, and not because of the budget. */
  | { type: 'epochs_skipped'; epochs: number }
  /** The first of two blocks of a slot was taken for the canonical one, because no later block is known. */
  | { type: 'blocks_tied'; epoch: number }
  /** The service has named a lower finalized epoch for an hour. */
  | { type: 'finality_back'; from: number; to: number }
  /** The service refuses a part of the source, which is then off for a day. */
  | { type: 'part_refused'; part: Part; err: string }
  /** What was odd in a sweep, failed or not. `machines`: those to which the reason applies, if not to all. */
  | { type: 'sweep_warning'; reason: string; machines?: readonly string[] | undefined }
>;

/** The options of a source of one chain. */
export interface ChainOptions {
  readonly chain: Chain;
  readonly intervalMs: Milliseconds;
  readonly weight: number;
}

/** The context of all requests of a poll, of sources that have options. */
export interface PollContext<Options> {
  readonly options: Options;
  readonly api: Api;
  readonly timing: Timing;
  readonly signal: AbortSignal;
  /** What the poll has found so far. */
  readonly events: SourceEvent[];
}

/** The result of a poll. If it failed, the value contains what was learned before the failure. */
export interface Poll<T> {
  readonly value: T;
  readonly failure?: Error | undefined;
  readonly events?: readonly SourceEvent[];
}

/** A part of a source that is on, and whether the service refuses it. */
export interface PartState {
  readonly part: Part;
  readonly isRefused: boolean;
}

/**
 * One kind of data, from the API to the metric families. T is the state of the source: polling turns the previous T
 * into the next one, which is persisted and then shown.
 */
export interface Source<T = unknown> {
  /** The name in labels and documents, and the key in the table of exporter/sources.ts. */
  readonly name: string;
  /** Absent if one source serves all chains. */
  readonly chain?: Chain;
  /** Those that it requests. The first request of a poll is to the first of them, whose waits delay the poll. */
  readonly endpoints: readonly [Endpoint, ...Endpoint[]];
  /** The configured interval. */
  readonly intervalMs: Milliseconds;
  /** The T of a source that has learned nothing yet. */
  readonly empty: T;
  /** Reads a persisted T back. */
  readonly state: ZodType<T>;
  /** Pure. When the next poll is due. The first one is due at once. */
  due(value: T, attempts: Attempts, timing: Timing): UnixMs;
  /** The share of a scarce budget, relative to the other sources. */
  readonly weight: number;
  /** Whether it needs only about one poll a day. Such cheap work comes first when the budget is scarce. */
  readonly isDaily: boolean;
  /** Whether every poll of a daily source has new data, so that it never polls more often to wait for them. */
  readonly isNeverOverdue?: boolean;
  /**
   * Pure. The fastest pace, no faster than configured, that costs at most `requestsPerDay` (Infinity: as configured)
   * when a poll costs `requestsPerPoll`. `before` is what the last poll covered, so that a share of the budget that
   * goes up and down a little does not change the coverage each time. `value`: its state, because a refused part costs
   * nothing.
   */
  pace(requestsPerDay: number, requestsPerPoll: number, before?: Coverage, value?: T): Pace;
  poll(api: Api, previous: T, timing: Timing, signal: AbortSignal): Promise<Poll<T>>;
  /**
   * Pure. The value with which a process starts, reloads or takes over at `now`: refused parts are requested again,
   * because the plan of the account may have changed. Absent: the value as it is.
   */
  anew?(value: T, now: UnixMs): T;
  /** Pure. The parts that are on and that the service may refuse; absent: none. */
  parts?(value: T): readonly PartState[];
  /** Pure. Every family of the source, also those without samples now. */
  families(value: T, timing: Timing): Family[];
  /** Pure. Its content on the status page, from the same values as `families`; absent: only its attempts are shown. */
  summary?(value: T, timing: Timing, polls: Polls, linked: Linked): Summary;
  /** Pure. When, after `now`, the result of `families` changes without a poll; Infinity: never. */
  nextChange(value: T, timing: Timing): UnixMs;
  /** How the history is read; absent if the service keeps no history of these families. */
  history?(): History;
}

/** The pace of polls at a fixed interval that all cost the same. */
export function evenPace(configuredMs: Milliseconds, requestsPerDay: number, requestsPerPoll: number): Pace {
  const affordedMs = (MS_PER_DAY * requestsPerPoll) / requestsPerDay;
  const intervalMs = Math.min(Math.max(configuredMs, affordedMs), Math.max(configuredMs, MAX_INTERVAL_MS));
  return { intervalMs, requestsPerDay: (MS_PER_DAY * requestsPerPoll) / intervalMs, coverage: 'full' };
}

/** The pace of a source that succeeds once per `periodMs`, with one request, however short its interval. */
export function oncePer(periodMs: Milliseconds, configuredMs: Milliseconds, requestsPerDay: number): Pace {
  const wanted = MS_PER_DAY / Math.max(periodMs, configuredMs);
  if (wanted <= requestsPerDay) return { intervalMs: configuredMs, requestsPerDay: wanted, coverage: 'full' };
  return evenPace(configuredMs, requestsPerDay, 1);
}

/**
 * The schedule of a source whose data change once a period, and are published `delayMs` later. It is due at that time, and
 * then every interval until the data of the next period are read. The service reports the end of the period, which may
 * be wrong: a poll is due at least once a period.
 */
export function oncePerPeriod<T>(
  configuredMs: Milliseconds,
  periodMs: Milliseconds,
  delayMs: Milliseconds,
  endOf: (value: T) => UnixMs | undefined,
): Pick<Source<T>, 'intervalMs' | 'due' | 'isDaily' | 'weight' | 'pace' | 'nextChange'> {
  return {
    intervalMs: configuredMs,
    due(value, attempts, { intervalMs }) {
      const { lastAttemptAt } = attempts;
      const end = endOf(value);
      const tick = nextTick(attempts, intervalMs);
      if (end === undefined) return tick;
      const at = end + delayMs;
      // New data do not shorten these intervals: a stretched one is the shortest that the budget allows, and the
      // operator chose one of more than a period.
      const keepsInterval = intervalMs > Math.min(configuredMs, periodMs);
      const due = lastAttemptAt < at && !keepsInterval ? at : Math.max(tick, at);
      return Math.min(due, Math.max(tick, lastAttemptAt + periodMs + delayMs));
    },
    isDaily: true,
    weight: 1,
    pace: (requestsPerDay) => oncePer(periodMs, configuredMs, requestsPerDay),
    nextChange: () => Number.POSITIVE_INFINITY,
  };
}

/** One interval after the last poll began, or at once after a poll that took longer. Missed ticks are dropped. */
export function nextTick({ lastAttemptAt, durationMs }: Attempts, intervalMs: Milliseconds): UnixMs {
  return lastAttemptAt + Math.max(intervalMs, durationMs);
}
