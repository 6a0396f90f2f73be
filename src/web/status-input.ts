import type { BudgetOptions } from '../budget/bucket.ts';
import type { Ledger } from '../budget/ledger.ts';
import type { UnixMs } from '../lib/time.ts';
import type { SourceView } from '../scheduler/views.ts';
import type { Source } from '../sources/source.ts';

/** All that the status page is made of, beside the time. The views are what /metrics shows. */
export interface StatusInput {
  readonly views: readonly SourceView[];
  readonly ledger: Ledger;
  readonly budgetOptions: BudgetOptions;
  /** The bucket that a source draws from, as far as known. */
  readonly bucketOf: (source: Source) => string;
  readonly version: string;
  /** Unix ms. */
  readonly startedAt: UnixMs;
  readonly telemetryPath: string;
  /** Whether the configuration was read without a mistake when it was read last. */
  readonly isConfigRead: boolean;
}
