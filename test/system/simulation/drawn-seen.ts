import type { Exchange } from '../../support/simulation.ts';

/** One poll. Times are Unix ms. */
export interface PollSeen {
  readonly id: string;
  readonly at: number;
  readonly end: number;
  /** The interval shown at its start, ms. */
  readonly toldMs: number | undefined;
  readonly ok: boolean;
  readonly reason?: string | undefined;
}

/** What the program shows at one time. */
export interface Moment {
  readonly at: number;
  readonly sources: ReadonlyMap<string, Told>;
  /** Requests left in the month by the count of the service: for all, and for this program. */
  readonly left: number;
  readonly ours: number;
  /** The shown machines, with the time of their record in seconds. */
  readonly shown: ReadonlyMap<string, number>;
  /** The machines that push, with the time of their first push. */
  readonly living: ReadonlyMap<string, number>;
  /** Machines with shown values that were never pushed. */
  readonly untrue: readonly string[];
}

export interface Told {
  readonly intervalMs: number;
  readonly waits: boolean;
  readonly failing: boolean;
}

export interface LifeSeen {
  readonly polls: readonly PollSeen[];
  readonly moments: readonly Moment[];
  readonly exchanges: readonly Exchange[];
  /** Requests of others. */
  readonly spent: readonly { readonly at: number; readonly requests: number }[];
  /** When plans were logged, each with the start of its process. */
  readonly plans: readonly { readonly since: number; readonly at: number }[];
  readonly restarts: readonly number[];
  /** Requests of this program in the month before the life began. */
  readonly ownBefore: number;
}
