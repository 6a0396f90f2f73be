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
 * One kind of data, from the API to the metric families. T is its value: each read turns it into the next one, which is saved
 * and then shown.
 */
export interface Source<T = unknown> {
  /** The name in labels and documents, and the key in the registry. */
  readonly name: string;
  /** Absent if one source serves all chains. */
  readonly chain?: Chain;
  /** Reads that are due together run one after the other in this order, and are saved once. */
  readonly reads: readonly [Read<T>, ...Read<T>[]];
  /** Reads a saved T back. */
  readonly state: ZodType<T>;
  /** The T of a source that has learned nothing yet. */
  readonly empty: T;
  /** Its weight among the sources that share a scarce budget. `allowedPerDay`: the requests a day for all of them. */
  share(allowedPerDay: number): number;
  /** Pure. Every family of the source, even without samples. A sample that changes with time names the time (`until`). */
  metrics(value: T, timing: Timing, inputs: Inputs): Family[];
  /** The log lines of what its reads find. */
  readonly events?: EventTable;
  /** Pure. Its content on the status page, from the same values as `metrics`. Absent: the page shows only its attempts. */
  page?(value: T, timing: Timing, shown: Shown): Summary;
  readonly more?: More<T>;
}

/** What `page` gets beside the value. */
export interface Shown {
  readonly inputs: Inputs;
  readonly linked: Linked;
  readonly polls: Polls;
}

/** What the alerts on the age of data compare: not the current time, but the last success of the first read. */
export interface Polls {
  readonly lastSuccessAt?: UnixMs | undefined;
  /** The effective interval, as shown on /metrics. */
  readonly intervalMs: Milliseconds;
}

/** What only some sources have. */
export interface More<T> {
  readonly probe?: Probing;
  /** How the history is read, by what the state knows. Absent: the service keeps no history. */
  history?(value: T): History;
  /** Pure. What the other sources of the chain may use. */
  gives?(value: T): Partial<Inputs>;
  /** Whether what it shows changes with what other sources give. */
  readonly showsInputs?: true;
  /** Pure. What the budget leaves out at this pace, in a few words. Empty: nothing. */
  leavesOut?(timing: Timing): string;
  /** Pure. How soon it detects events at this pace. */
  detects?(timing: Timing): readonly Detection[];
  /** What `check` assumes about its cost until the cost has been measured, in a sentence. */
  readonly assumption?: string;
}

/**
 * The longest time from an event to the value on /metrics that triggers the alert, if every request works. Infinity: never.
 * A text says when the value comes instead.
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
  /** Those whose index is known. */
  readonly watch: Watch;
  /** Each watched validator once. */
  readonly groups: readonly WatchedGroup[];
  /** Absent: no public keys are watched. */
  readonly keys?: WatchedKeys;
  /** Keys of which another chain has not answered yet: this one does not call them not found. Absent: none. */
  readonly undecided?: ReadonlySet<string>;
  /** Those that two groups turned out to share, by a key and an index. The first group keeps them. Absent: none. */
  readonly shared?: readonly number[];
}

/** The public keys of a chain as configured, before their indices are known. */
export interface WatchedKeys {
  readonly keys: readonly string[];
  /** Those that may be on another chain. They count here unless it has them. */
  readonly anywhere: ReadonlySet<string>;
  /** Indices and keys of each group. A key can be one of another chain. */
  readonly groups: readonly NamedWatch[];
}
