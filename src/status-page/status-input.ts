import type { BudgetOptions } from '../budget/bucket.ts';
import type { Ledger } from '../budget/ledger.ts';
import type { SourceView } from '../scheduler/schedules.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';

/** Everything that the status page shows, apart from the time. The views are those of /metrics. */
export interface StatusInput {
  readonly views: readonly SourceView[];
  readonly ledger: Ledger;
  readonly budgetOptions: BudgetOptions;
  readonly startedAt: UnixMs;
  readonly telemetryPath: string;
  /** Why the last reload of the configuration failed; absent: it did not. */
  readonly reloadError?: string | undefined;
  /** When a write of the state last failed; undefined: never. */
  readonly unwrittenAt?: UnixMs | undefined;
  /** Whether this process polls; absent: yes. */
  readonly isLeader?: boolean;
  /** How far the clock of the service is ahead of ours; undefined: it is not known. */
  readonly clockOffsetMs?: Milliseconds | undefined;
  /** Whether the data are simulated. */
  readonly isSimulated?: boolean | undefined;
}
