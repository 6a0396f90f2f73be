import type { ZodType } from 'zod';
import type { Chain } from '../facts/chain.ts';
import type { NamedWatch, WatchedGroup } from '../facts/groups.ts';
import type { Watch } from '../facts/watch.ts';
import type { Family } from '../toolkit/exposition/family.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import type { Alert } from './conditions.ts';
import type { Linked, Summary } from './content.ts';
import type { History } from './history.ts';
import type { Probing } from './probe.ts';
import type { EventTable, Inputs, Read, Timing } from './read.ts';

/**
 * One kind of data, from the API to the metric families. T is its value: each read computes the next value, which is saved and then
 * shown.
 */
export interface Source<T = unknown> {
  /** The name in labels and documents, and the key in the registry. */
  readonly name: string;
  /** Absent if one source covers all chains. */
  readonly chain?: Chain;
  /** Reads that are due together run in this order, and are saved once. */
  readonly reads: readonly [Read<T>, ...Read<T>[]];
  /** Reads a saved T back. */
  readonly state: ZodType<T>;
  /** The value before the first read. */
  readonly empty: T;
  /** Its weight among the sources that share a scarce budget. `allowedPerDay`: the requests a day for all of them. */
  share(allowedPerDay: number): number;
  /** Pure. Every family of the source, even without samples. A sample that changes with time says when (`until`). */
  metrics(value: T, timing: Timing, inputs: Inputs): Family[];
  /** The log lines of its events. */
  readonly events?: EventTable;
  /** Pure. Its content on the status page, from the same values as `metrics`. Absent if the page shows only its attempts. */
  page?(value: T, timing: Timing, shown: Shown): Summary;
  readonly more?: More<T>;
}

/** What `page` gets beside the value. */
export interface Shown {
  readonly inputs: Inputs;
  readonly linked: Linked;
  readonly polls: Polls;
}

/** Alerts on the age of data compare with the last success of the first read, not with the current time. */
export interface Polls {
  readonly lastSuccessAt?: UnixMs | undefined;
  /** The effective interval, as shown on /metrics. */
  readonly intervalMs: Milliseconds;
}

/** What only some sources have. */
export interface More<T> {
  readonly probe?: Probing;
  /** How to read the history, given the state. Absent if the service keeps no history. */
  history?(value: T): History;
  /** Pure. What the other sources of the chain may use. */
  gives?(value: T): Partial<Inputs>;
  /** Whether it shows what other sources give. */
  readonly showsInputs?: true;
  /** Pure. What the budget leaves out at this pace, in a few words. Empty for nothing. */
  leavesOut?(timing: Timing): string;
  /** Pure. How soon it detects events at this pace. */
  detects?(timing: Timing): readonly Detection[];
  /** What `check` assumes about its cost until the cost has been measured, in a sentence. */
  readonly assumption?: string;
}

/**
 * The longest time from an event to the value on /metrics that triggers the alert, if every request works. Infinity for never. A text says
 * why there is no such time.
 */
export type Detection = readonly [alert: Alert, event: string, after: Milliseconds | string];

export interface ChainOptions {
  readonly chain: Chain;
  readonly intervalMs: Milliseconds;
  /** How many chains share the weight of the source. */
  readonly chains: number;
}

/** The options of a source that knows the watched validators of a chain. */
export interface WatchOptions extends ChainOptions {
  /** Validators whose index is known. */
  readonly watch: Watch;
  /** Each watched validator once. */
  readonly groups: readonly WatchedGroup[];
  /** Absent without public keys. */
  readonly keys?: WatchedKeys;
  /** Keys without a response from another chain yet, so this chain does not call them not found. Absent if none. */
  readonly undecided?: ReadonlySet<string>;
  /** Validators that two groups share, by a key and an index. The first group keeps them. Absent if none. */
  readonly shared?: readonly number[];
}

/** The public keys of a chain as configured, before their indices are known. */
export interface WatchedKeys {
  readonly keys: readonly string[];
  /** Keys that may be on another chain. They count here unless it has them. */
  readonly anywhere: ReadonlySet<string>;
  /** Indices and keys of each group. A key can be one of another chain. */
  readonly groups: readonly NamedWatch[];
}
