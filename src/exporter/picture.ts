import { allowedPerDay, type BudgetOptions } from '../budget/bucket.ts';
import { bucketOf, type Ledger, opensAt, quotaIn } from '../budget/ledger.ts';
import type { UnixMs } from '../lib/time.ts';
import { type BudgetView, type SourceView, sourceViews } from '../scheduler/views.ts';
import type { Source } from '../sources/source.ts';
import { emptyEntry, sourceId } from '../state/entry.ts';
import type { State } from './state.ts';

/** The part of the configuration that decides how the state is shown. */
export interface ViewOptions {
  /** In the order in which they are shown. */
  readonly sources: readonly Source[];
  readonly budgetOptions: BudgetOptions;
  /** The route of the first request of a source's poll. */
  readonly routeOf: (source: Source) => string;
}

/** Pure. The status of each source, and what is shown of it. */
export function viewsOf(state: Omit<State, 'totals'>, options: ViewOptions, now: UnixMs): SourceView[] {
  const polled = new Map(state.polled?.map((known) => [known.source, known]));
  const known = options.sources.map((source) => {
    const entry = state.entries.get(sourceId(source)) ?? emptyEntry(source);
    return polled.get(source) ?? { source, shown: entry, known: entry, running: false };
  });
  return sourceViews(known, budgetViewOf(state.ledger, options, now), now);
}

/** Pure. The budget of each source. */
export function budgetViewOf(
  ledger: Ledger,
  { budgetOptions, routeOf }: Omit<ViewOptions, 'sources'>,
  now: UnixMs,
): BudgetView {
  return {
    bucketOf: (source) => bucketOf(ledger, routeOf(source)),
    allowedPerDay: (bucket, heldBack) => allowedPerDay(ledger.buckets[bucket], budgetOptions, now, heldBack),
    quotaOf: (bucket) => quotaIn(ledger, bucket, budgetOptions, now),
    opensAt: (source) => opensAt(ledger, routeOf(source), budgetOptions, now),
  };
}
