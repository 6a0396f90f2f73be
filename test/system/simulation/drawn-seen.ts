import type { Exchange } from '../../support/simulation.ts';

/** Times are Unix ms. */
export interface PollSeen {
  readonly id: string;
  readonly at: number;
  readonly end: number;
  /** The interval that was told at its start, ms. */
  readonly toldMs: number | undefined;
  readonly ok: boolean;
  readonly reason?: string | undefined;
}

/** What is told at a moment. */
export interface Moment {
  readonly at: number;
  readonly sources: ReadonlyMap<string, Told>;
  /** By the service's count, requests that are left of the month for anybody; and those of ours. */
  readonly left: number;
  readonly ours: number;
  /** Machines whose values are shown, with the second of the record that they are of. */
  readonly shown: ReadonlyMap<string, number>;
  /** Machines that push, with when they began to. */
  readonly living: ReadonlyMap<string, number>;
  /** What is shown and was never pushed. */
  readonly untrue: readonly string[];
}

export interface Told {
  readonly intervalMs: number;
  /** Of the values that are shown. */
  readonly shownForMs: number;
  readonly waits: boolean;
  readonly failing: boolean;
}

export interface LifeSeen {
  readonly polls: readonly PollSeen[];
  readonly moments: readonly Moment[];
  readonly exchanges: readonly Exchange[];
  /** When others asked, and how often. */
  readonly spent: readonly { readonly at: number; readonly requests: number }[];
  /** When the plan was told, by process: with its start. */
  readonly plans: readonly { readonly since: number; readonly at: number }[];
  readonly restarts: readonly number[];
  /** Requests of ours in the month before the life began. */
  readonly ownBefore: number;
}
