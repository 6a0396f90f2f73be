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
  /** The late reads of the source that are on, beside which a read may cost less. */
  readonly beside: readonly string[];
}

/** The time, the pace of a read, and the paces of the other reads of its source. */
export interface Timing extends Time {
  /** The effective interval of the read. For showing values: of the first read that is on. */
  readonly intervalMs: Milliseconds;
  readonly isStretched: boolean;
  /** The effective interval of another read. Undefined if the budget leaves it out, or the service refuses it. */
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

/** When data change that are read once a period. */
export interface Period<T> {
  readonly ms: Milliseconds;
  /** When the data of the next period can be read. Undefined if unknown: then at each interval. */
  from(value: T, now: UnixMs): UnixMs | undefined;
}

/** What a run has found, as plain data: its type in the source's table, and the fields of its log line. */
export type SourceEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The log line of each type of event. */
export type EventTable = Readonly<Record<string, { readonly level: LogLevel; readonly message: string }>>;

/** What the sources of a chain get from each other's saved values. */
export interface Inputs {
  /** The seats of a sync committee period, in committee order. Undefined if the members are unknown. */
  seatsOf(period: number): readonly number[] | undefined;
  /** The watched validators that are slashed according to their status. */
  readonly slashedByStatus: readonly Slashed[];
  readonly finality?: Finality | undefined;
  /** The public keys of watched validators, by their status. */
  readonly keys: readonly KnownKey[];
  /** The same of each other chain. */
  readonly keysElsewhere: readonly (readonly KnownKey[])[];
  /** Whether another source shows the slashed watched validators, from the blocks of the chain. */
  readonly showsSlashed: boolean;
}

export const NO_INPUTS: Inputs = {
  seatsOf: () => undefined,
  slashedByStatus: [],
  keys: [],
  keysElsewhere: [],
  showsSlashed: false,
};

/** A validator by its last response. */
export interface KnownKey {
  /** Absent if not requested by key. */
  readonly key?: string | undefined;
  /** Absent if the service has no index for the key. */
  readonly index?: number | undefined;
  readonly status: Status;
  /** The epoch of the response. */
  readonly epoch: number;
}

export interface ReadContext {
  /** Counts requests, and notes which parts the service refuses. */
  readonly api: Api;
  readonly timing: Timing;
  readonly signal: AbortSignal;
  readonly inputs: Inputs;
  /**
   * How long the exporter itself has been trying since the last attempt: at most its interval, or that of a late read beside it. 0 at the
   * first attempt after a start, a reload or a takeover.
   */
  readonly ownMs: Milliseconds;
  /** The interval that decides when shown values are too old: the effective one, or a longer one at the last attempt. */
  readonly agingMs: Milliseconds;
  /** Whether this is the first attempt since a start, a reload or a takeover. */
  readonly isFirst: boolean;
  /** The stop before the program started. Undefined after its first round. A reload or a takeover is no start. */
  readonly stop: { readonly from: UnixMs; readonly to: UnixMs } | undefined;
  /** Whether the read was off since its last run: the budget left it out, or the configuration lacked it. */
  readonly wasLeftOut: boolean;
  /** Whether an optional part is off: its refusal is confirmed, and not older than a day. Also by what this run has seen. */
  isRefused(part: Part): boolean;
  /** Begins long work: the pause is to be awaited between its steps, so that scrapes run. */
  slices(): Pause;
  /** Logged once the value that contains them has been saved. The events of an aborted run are found by the next one. */
  readonly events: SourceEvent[];
}

/** The result of a run. After a failure, the value has what the run learned before. */
export interface Outcome<T> {
  readonly value: T;
  readonly failure?: Error | undefined;
}

/**
 * One thing that a source requests. The scheduler plans and runs each read by itself, and pauses it after failures and refusals. T is the
 * value of the source.
 */
export interface Read<T> {
  readonly name: string;
  /** The endpoints of its requests. The first one determines its bucket, and whether the service refuses the whole read. */
  readonly endpoints: readonly [Endpoint, ...Endpoint[]];
  /** The configured interval. */
  readonly everyMs: Milliseconds;
  /** Makes it a late read, which is useless at a longer interval: the budget pays for it last, or leaves it out. */
  readonly slowestMs?: Milliseconds;
  /**
   * Makes it a read that uses what all other reads leave, and is stretched alone. At 1 it is always on. Below 1 it is on while it costs at
   * most this share of limits that a response has named, without a monthly quota among them.
   */
  readonly spare?: number;
  /** Makes the budget pay for the read first. Other reads do not stretch it. */
  readonly period?: Period<T>;
  /** The least requests of a run. Default: 1. */
  readonly cost?: number;
  /** The requests of a run until two are measured. Default: `cost`. */
  readonly assumed?: number;
  /** Pure. Requests a day at a pace. `usual`: requests of a run. Default: one run an interval. */
  price?(pace: Pace, usual: number): number;
  /**
   * Pure. When the next run is due. Default: `tick`, an interval after the last one. Earlier if something is to be read, Infinity if
   * nothing is left.
   */
  due?(value: T, last: Last, timing: Timing, tick: UnixMs): UnixMs;
  /** Computes the next value. @throws Error if nothing was learned */
  run(context: ReadContext, value: T): Promise<Outcome<T>>;
}
