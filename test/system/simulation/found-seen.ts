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
  /** Requests left in the month for this program, by the count of the service. */
  readonly ours: number;
  /** The shown machines, with the time of their record in seconds. */
  readonly shown: ReadonlyMap<string, number>;
  /** The machines that push, with the time of their first push. */
  readonly living: ReadonlyMap<string, number>;
}

export interface Told {
  readonly intervalMs: number;
}

export interface LifeSeen {
  readonly polls: readonly PollSeen[];
  readonly moments: readonly Moment[];
  readonly exchanges: readonly Exchange[];
}
