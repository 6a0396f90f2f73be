import type { ZodType } from 'zod';
import type { Api } from '../api/client.ts';
import type { Endpoint } from '../api/errors.ts';
import type { Chain } from '../lib/chain.ts';
import { MS_PER_DAY } from '../lib/duration.ts';
import type { Family } from '../metrics/family.ts';
import type { Summary } from './content.ts';
import type { History } from './history.ts';

/** In the order in which they are shown. */
export const SOURCE_NAMES = ['daily_returns', 'sync_committee', 'machines', 'slashings'] as const;
export type SourceName = (typeof SOURCE_NAMES)[number];

/** With next to nothing to spend, a poll once a month is the least that is still a poll. */
export const MAX_INTERVAL_MS = 31 * MS_PER_DAY;

/** What a source is told about the schedule it runs in. */
export interface Timing {
  /** Unix milliseconds. */
  readonly now: number;
  /** The effective interval between polls, milliseconds. */
  readonly intervalMs: number;
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
  readonly intervalMs: number;
  readonly requestsPerDay: number;
  readonly coverage: Coverage;
}

/** How the attempts of a source went so far. Times are Unix milliseconds. */
export interface Attempts {
  readonly lastAttemptAt: number | undefined;
  readonly lastSuccessAt: number | undefined;
  /** Whether the last attempt failed. */
  readonly failing: boolean;
  /** Of the last attempt. */
  readonly durationMs: number;
}

/** What a poll brought. With a failure, the value holds what was learned before it. */
export interface Poll<T> {
  readonly value: T;
  readonly failure?: Error;
  /** Requests among those of this poll that the next ones will not make: they say nothing of what a poll costs. */
  readonly oneTimeRequests?: number;
}

/**
 * One kind of data, from the API to the metric families. T is all that the source knows: polling turns the previous T
 * into the next one, which is persisted and then shown.
 */
export interface Source<T = unknown> {
  readonly name: SourceName;
  /** Absent where one source serves all chains. */
  readonly chain?: Chain;
  /** What each poll asks first: while its requests may not leave, no poll starts. */
  readonly endpoint: Endpoint;
  /** The configured interval, milliseconds. */
  readonly intervalMs: number;
  /** The T of a source that has learned nothing yet. */
  readonly empty: T;
  /** Reads a persisted T back. */
  readonly state: ZodType<T>;
  /** Pure. Unix ms at which the next poll is due, given that at least one was made. */
  due(value: T, attempts: Attempts, timing: Timing): number;
  /** Share of a scarce budget, against the other sources. */
  readonly weight: number;
  /** Cheap work of once a day, which a scarce budget serves before the rest. */
  readonly isDaily: boolean;
  /**
   * Pure. The fastest pace, no faster than configured, that costs at most `requestsPerDay` (Infinity: as configured),
   * where a poll costs `requestsPerPoll` as observed. `before`: what the last poll covered, so that a share which goes up
   * and down a little does not change it each time.
   */
  pace(requestsPerDay: number, requestsPerPoll: number, before?: Coverage): Pace;
  poll(api: Api, previous: T, timing: Timing, signal: AbortSignal): Promise<Poll<T>>;
  /** Pure. Every family of the source, also those without samples now. */
  families(value: T, timing: Timing): Family[];
  /** Pure. What the status page says of it, of the same values as `families`. */
  summary(value: T, timing: Timing): Summary;
  /** Pure. Unix ms after `now` at which `families` says something else without a poll; Infinity: never. */
  nextChange(value: T, timing: Timing): number;
  /** How the past is read; absent where the service keeps none that the families could tell. */
  history?(): History;
}

/** The pace of polls at a plain cadence that cost the same each. */
export function evenPace(configuredMs: number, requestsPerDay: number, requestsPerPoll: number): Pace {
  const affordedMs = (MS_PER_DAY * requestsPerPoll) / requestsPerDay;
  const intervalMs = Math.min(Math.max(configuredMs, affordedMs), Math.max(configuredMs, MAX_INTERVAL_MS));
  return { intervalMs, requestsPerDay: (MS_PER_DAY * requestsPerPoll) / intervalMs, coverage: 'full' };
}

/** The pace of work that succeeds once per `periodMs`, however short the interval at which it is tried. */
export function oncePer(periodMs: number, configuredMs: number, requestsPerDay: number): Pace {
  const wanted = MS_PER_DAY / Math.max(periodMs, configuredMs);
  if (wanted <= requestsPerDay) return { intervalMs: configuredMs, requestsPerDay: wanted, coverage: 'full' };
  return evenPace(configuredMs, requestsPerDay, 1);
}

/**
 * The plain cadence: one interval after the last start, or at once after a poll that took longer. The ticks that it missed
 * are dropped.
 */
export function nextTick({ lastAttemptAt, durationMs }: Attempts, intervalMs: number): number {
  return lastAttemptAt === undefined ? 0 : lastAttemptAt + Math.max(intervalMs, durationMs);
}
