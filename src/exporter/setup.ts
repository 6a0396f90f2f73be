import { ENDPOINT_NAMES, type Endpoint } from '../api/endpoints.ts';
import { allowedPerDay, type BudgetOptions, EMPTY_BUCKET, quotaOf } from '../budget/bucket.ts';
import { bucketOf, keyAt, type Ledger } from '../budget/ledger.ts';
import type { Chain } from '../facts/chain.ts';
import { emptyEntry, sourceId } from '../scheduler/entry.ts';
import { type BudgetView, type PlannedSource, pacesOf } from '../scheduler/paces.ts';
import { partOf } from '../scheduler/refusals.ts';
import { type SourceView, sourceViews } from '../scheduler/schedules.ts';
import { type Config, sourcesOf } from '../sources/registry.ts';
import type { Source } from '../sources/source.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { budgetOptionsOf, routesOf } from './client.ts';
import type { State } from './state.ts';

/** The sources and their budget: everything that follows from the configuration alone. */
export interface Setup {
  /** In the order in which they are shown. */
  readonly sources: readonly Source[];
  readonly budgetOptions: BudgetOptions;
  /** The route of requests to an endpoint. `chain`: undefined for an endpoint that is about the account. */
  readonly routeOf: (endpoint: Endpoint, chain: Chain | undefined) => string;
}

export function setupOf(config: Config): Setup {
  return { sources: sourcesOf(config), budgetOptions: budgetOptionsOf(config), routeOf: routesOf(config) };
}

/** The names of the sources whose samples change with others. */
export function showingInputs({ sources }: Setup): string[] {
  return sources.flatMap(({ name, more }) => (more?.showsInputs ? [name] : []));
}

/** Pure. The budget of each read. */
export function budgetViewOf(
  { budgetOptions, routeOf }: Omit<Setup, 'sources'>,
  ledger: Ledger,
  now: UnixMs,
): BudgetView {
  return {
    bucketOf: ({ chain }, { endpoints: [endpoint] }) => bucketOf(ledger, routeOf(endpoint, chain)),
    allowedPerDay: (bucket) => allowedPerDay(ledger.buckets[bucket], budgetOptions, now),
    quotaOf: (bucket) => quotaOf(ledger.buckets[bucket] ?? EMPTY_BUCKET, budgetOptions, now),
    keyAt: () => keyAt(ledger),
  };
}

/** Pure. The sources as a process with this state would show them. */
export function viewsOf(state: State, setup: Setup, now: UnixMs): SourceView[] {
  const known = plannedSources(state, setup).map((one) => ({ ...one, saved: one.current, running: false }));
  return sourceViews(known, budgetViewOf(setup, state.ledger, now), { now, held: now });
}

/** Pure. The configured paces, as if there were no limits. A read with `spare` stays on or off as the limits have it. */
export function configuredPaces(state: State, setup: Setup, now: UnixMs): ReturnType<typeof pacesOf> {
  const view = budgetViewOf(setup, state.ledger, now);
  const sources = plannedSources(state, setup);
  const effective = pacesOf(sources, view, now);
  const configured = pacesOf(sources, { ...view, allowedPerDay: () => Number.POSITIVE_INFINITY }, now);
  for (const [source, paces] of configured)
    for (const { name, spare = 1 } of source.reads)
      if (spare < 1 && !effective.get(source)?.has(name)) (paces as Map<string, unknown>).delete(name);
  return configured;
}

function plannedSources({ entries }: State, { sources }: Setup): PlannedSource[] {
  return sources.map((source) => ({ source, current: entries.get(sourceId(source)) ?? emptyEntry(source) }));
}

/** The endpoints in metric labels: those of the specification, and the optional ones that these sources use. */
export function endpointsOf(sources: readonly Source[]): Endpoint[] {
  const used = new Set(sources.flatMap(({ reads }) => reads.flatMap(({ endpoints }) => endpoints)));
  return ENDPOINT_NAMES.filter((endpoint) => partOf(endpoint) === undefined || used.has(endpoint));
}
