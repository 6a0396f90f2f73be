import type { Status } from '../api/answers/validators.ts';
import type { Api } from '../api/client.ts';
import type { Endpoint, Finality, Part } from '../api/endpoints.ts';
import type { Pause } from '../toolkit/lib/clock.ts';
import type { Time } from '../toolkit/lib/held-time.ts';
import type { LogLevel } from '../toolkit/lib/log.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import type { Slashed } from './slashed.ts';

/** How often a read runs, as the planner decides. */
export interface Pace {
  readonly intervalMs: Milliseconds;
  /** Whether the budget makes the interval longer than configured. */
  readonly isStretched: boolean;
  /** The late reads of the source that are on. A read may cost less beside them. */
  readonly beside: readonly string[];
}

/** The time, the pace of a read, and that of the other reads of its source. */
export interface Timing extends Time {
  /** The effective interval of the read; where values are shown, that of the first read that is on. */
  readonly intervalMs: Milliseconds;
  readonly isStretched: boolean;
  /** The effective interval of another read. Undefined: the budget leaves it out, or the service refuses it. */
  of(read: string): Milliseconds | undefined;
  /** Whether the last attempt at another read failed. */
  isFailing(read: string): boolean;
}

/** The last attempt at a read. */
export interface Last {
  readonly attemptAt: UnixMs;
  readonly durationMs: Milliseconds;
  readonly failuresInARow: number;
}

/** How data change that are read once a period. */
export interface Period<T> {
  readonly ms: Milliseconds;
  /** When the data of the next period can be read. Undefined: at each interval, because nothing is known. */
  from(value: T, now: UnixMs): UnixMs | undefined;
}

/** A fact that a run has found, as plain data: the fields of its log line, and its type in the table of its source. */
export type SourceEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The log line of each type of event. */
export type EventTable = Readonly<Record<string, { readonly level: LogLevel; readonly message: string }>>;

/** What the sources of a chain tell each other, from their saved values. */
export interface Inputs {
  /** The seats of a sync committee period, in the order of the committee. Undefined: the members are not known. */
  seatsOf(period: number): readonly number[] | undefined;
  /** The watched validators that are slashed according to their status. */
  readonly slashedByStatus: readonly Slashed[];
  readonly finality?: Finality | undefined;
  /** What the status of each watched validator tells of its public key. */
  readonly keys: readonly KnownKey[];
  /** The same of each other chain. */
  readonly keysElsewhere: readonly (readonly KnownKey[])[];
  /** Whether another source shows the watched validators that were slashed, from the blocks of the chain. */
  readonly showsSlashed: boolean;
}

export const NO_INPUTS: Inputs = {
  seatsOf: () => undefined,
  slashedByStatus: [],
  keys: [],
  keysElsewhere: [],
  showsSlashed: false,
};

/** A validator by its last answer. */
export interface KnownKey {
  /** Absent: it was not requested by a key. */
  readonly key?: string | undefined;
  /** Absent: the service has no index for the key. */
  readonly index?: number | undefined;
  readonly status: Status;
  /** The epoch of the answer. */
  readonly epoch: number;
}

export interface ReadContext {
  /** Counts the requests, and notes which parts the service refuses. */
  readonly api: Api;
  readonly timing: Timing;
  readonly signal: AbortSignal;
  readonly inputs: Inputs;
  /**
   * The time since the last attempt in which the exporter itself was trying: at most an interval, or that of a late read
   * beside it, and none at the first attempt after a start, a reload or a takeover.
   */
  readonly ownMs: Milliseconds;
  /** The interval by which known values age, as shown: the effective one, or that of the last attempt if it was longer. */
  readonly agingMs: Milliseconds;
  /** Whether this is the first attempt since a start, a reload or a takeover. */
  readonly isFirst: boolean;
  /** Until the program started, it did not run. Undefined after its first round. A reload or a takeover is no start. */
  readonly stop: { readonly from: UnixMs; readonly to: UnixMs } | undefined;
  /** Whether the read was off since its last run, because the budget left it out or the configuration did not have it. */
  readonly wasLeftOut: boolean;
  /** Whether an optional part is off: its refusal is confirmed, and not older than a day. Also by what this run has seen. */
  isRefused(part: Part): boolean;
  /** Lets scrapes run. To be awaited between the steps of long work. */
  readonly pause: Pause;
  /** Logged once the value that contains them has been saved. The events of an aborted run are found by the next one. */
  readonly events: SourceEvent[];
}

/** The result of a run. If it failed, the value contains what was learned before the failure. */
export interface Outcome<T> {
  readonly value: T;
  readonly failure?: Error | undefined;
}

/**
 * One thing that a source asks for. The scheduler plans and runs each read by itself, and pauses it after failures and
 * refusals. T is the value of the source.
 */
export interface Read<T> {
  readonly name: string;
  /** The endpoints of its requests. The first one decides which bucket it waits for, and whether it is refused as a whole. */
  readonly endpoints: readonly [Endpoint, ...Endpoint[]];
  /** The configured interval. */
  readonly everyMs: Milliseconds;
  /** Makes it a late read, which is worth nothing at a longer interval: the budget pays for it last, or leaves it out. */
  readonly slowestMs?: Milliseconds;
  /**
   * Makes it a read that is paid from what all other reads leave, and stretched alone. 1: it is always on. Less: it is on while
   * it costs at most this share of limits that an answer has named, and no quota of a month is among them.
   */
  readonly spare?: number;
  /** The budget pays for such a read first, and other reads do not stretch it. */
  readonly period?: Period<T>;
  /** The least requests of a run. Default: 1. */
  readonly cost?: number;
  /** The requests of a run until two are measured. Default: `cost`. */
  readonly assumed?: number;
  /** Pure. Requests a day at a pace. `usual`: requests of a run. Default: those of one run an interval. */
  price?(pace: Pace, usual: number): number;
  /**
   * Pure. When the next run is due. `tick`: an interval after the last one. Earlier: there is something to read. Infinity:
   * nothing is left to read. Default: `tick`.
   */
  due?(value: T, last: Last, timing: Timing, tick: UnixMs): UnixMs;
  /** Turns the value into the next one. @throws Error if nothing was learned */
  run(context: ReadContext, value: T): Promise<Outcome<T>>;
}
