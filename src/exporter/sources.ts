import { ENDPOINT_NAMES, ENDPOINTS, type Endpoint } from '../api/endpoints.ts';
import { allowedPerDay, type BudgetOptions, EMPTY_BUCKET, quotaOf } from '../budget/bucket.ts';
import { bucketOf, keyAt, type Ledger } from '../budget/ledger.ts';
import type { Config } from '../config/config.ts';
import type { Chain } from '../facts/chain.ts';
import { type WatchedGroup, watchedGroups } from '../facts/groups.ts';
import { emptyEntry, sourceId } from '../scheduler/entry.ts';
import { type BudgetView, type SourceView, sourceViews } from '../scheduler/schedules.ts';
import { dailyReturnsSource } from '../sources/daily-returns/index.ts';
import { machinesSource } from '../sources/machines/index.ts';
import { networkSource } from '../sources/network/index.ts';
import { slashingsSource } from '../sources/slashings/index.ts';
import type { Source } from '../sources/source.ts';
import { syncCommitteeSource } from '../sources/sync-committee/index.ts';
import { seatsOf } from '../sources/validators/committees.ts';
import { validatorsSource } from '../sources/validators/index.ts';
import type { ValidatorsOptions } from '../sources/validators/options.ts';
import { NO_VALIDATORS, type Validators } from '../sources/validators/schema.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { budgetOptionsOf, routesOf } from './client.ts';
import type { State } from './state.ts';

/** The sources and their budget: everything that follows from the configuration alone. */
export interface SourcePlan {
  /** In the order in which they are shown. */
  readonly sources: readonly Source[];
  readonly budgetOptions: BudgetOptions;
  /** The route of the first request of a source's poll. */
  readonly routeOf: (source: Source) => string;
}

/** The last saved value of an enabled source, by its id. Other sources may use it. */
export type LastValueOf = (id: string) => unknown;

export function planOf(config: Config, lastValueOf?: LastValueOf): SourcePlan {
  return {
    sources: sourcesOf(config, lastValueOf),
    budgetOptions: budgetOptionsOf(config),
    routeOf: routesOf(config),
  };
}

/** Pure. The budget of each source. */
export function budgetViewOf(
  { budgetOptions, routeOf }: Omit<SourcePlan, 'sources'>,
  ledger: Ledger,
  now: UnixMs,
): BudgetView {
  return {
    bucketOf: (source) => bucketOf(ledger, routeOf(source)),
    allowedPerDay: (bucket) => allowedPerDay(ledger.buckets[bucket], budgetOptions, now),
    quotaOf: (bucket) => quotaOf(ledger.buckets[bucket] ?? EMPTY_BUCKET, budgetOptions, now),
    keyAt: () => keyAt(ledger),
  };
}

/** Pure. The sources as a process with this state would show them. */
export function viewsOf({ ledger, entries }: State, plan: SourcePlan, now: UnixMs): SourceView[] {
  const known = plan.sources.map((source) => {
    const entry = entries.get(sourceId(source)) ?? emptyEntry(source);
    return { source, saved: entry, current: entry, running: false };
  });
  return sourceViews(known, budgetViewOf(plan, ledger, now), now);
}

/** The endpoints that a configuration uses on a chain; without a chain: those that are about the account. */
export function endpointsOn(config: Config, chain: Chain | undefined): Endpoint[] {
  return sourcesOf(config).flatMap((source) => (source.chain === chain ? source.endpoints : []));
}

/** The endpoints in metric labels: those of the specification, and the optional ones that these sources use. */
export function endpointsOf(sources: readonly Source[]): Endpoint[] {
  const used = sources.flatMap(({ endpoints }) => endpoints);
  return ENDPOINT_NAMES.filter((endpoint) => ENDPOINTS[endpoint].part === undefined || used.includes(endpoint));
}

/** Shares of a scarce budget. The daily sources come before them. The chains of a source share its weight. */
const WEIGHTS = { machines: 2, validators: 2, slashings: 3, network: 0.1 } as const;

type Create = (config: Config, chains: readonly Chain[], lastValueOf: LastValueOf) => Source[];

/** The enabled sources of each name, in the order in which they are shown. */
const SOURCES: Readonly<Record<string, Create>> = {
  daily_returns: ({ dailyReturns: { enabled, intervalMs } }, chains) =>
    enabled ? chains.map((chain) => dailyReturnsSource(chain, intervalMs)) : [],
  sync_committee: ({ syncCommittee: { enabled, intervalMs } }, chains) =>
    enabled ? chains.map((chain) => syncCommitteeSource(chain, intervalMs)) : [],
  machines: ({ machines, groups }, chains) =>
    machines.enabled ? [machinesSource({ ...machines, groups, weight: WEIGHTS.machines, chains })] : [],
  validators: (config, chains) => chains.flatMap((chain) => validatorsOf(config, chain)),
  network: (config, chains) =>
    chains
      .filter((chain) => isNetworkOn(config, chain))
      .map((chain) =>
        networkSource({ chain, intervalMs: config.network.intervalMs, weight: WEIGHTS.network / chains.length }),
      ),
  slashings: (config, chains, lastValueOf) =>
    config.slashings.enabled ? chains.map((chain) => slashingsOf(config, chain, lastValueOf)) : [],
};
export const SOURCE_NAMES = Object.keys(SOURCES);

/** Every enabled source. */
export function sourcesOf(config: Config, lastValueOf: LastValueOf = () => undefined): Source[] {
  const chains = config.chains.map(({ name }) => name);
  return Object.values(SOURCES).flatMap((create) => create(config, chains, lastValueOf));
}

/** The watched validators of a chain by group. */
function watchedOn({ groups, validators }: Config, chain: Chain): readonly WatchedGroup[] {
  return watchedGroups(
    validators.watch[chain],
    groups.map(({ name, watch }) => ({ name, watch: watch[chain] })),
  );
}

/** None if the chain has no watched validators, or every part is off. */
function validatorsOf(config: Config, chain: Chain): Source[] {
  const options = validatorsOptions(config, chain);
  const isOn = options.watch.length > 0 && (options.status || options.syncCommittee);
  return isOn ? [validatorsSource(options)] : [];
}

export function validatorsOptions(config: Config, chain: Chain): ValidatorsOptions {
  const { watch, intervalMs, status, rewards, syncCommittee } = config.validators;
  return {
    chain,
    watch: watch[chain],
    groups: watchedOn(config, chain),
    intervalMs,
    weight: WEIGHTS.validators / config.chains.length,
    status,
    rewards: status && rewards,
    syncCommittee,
    hasSlashings: config.slashings.enabled,
  };
}

/** `auto`: beside one's own validators. */
function isNetworkOn({ network, validators }: Config, chain: Chain): boolean {
  return network.enabled === 'auto' ? validators.watch[chain].length > 0 : network.enabled;
}

function slashingsOf(config: Config, chain: Chain, lastValueOf: LastValueOf): Source {
  const { slashings, validators, chains } = config;
  const watch = validators.watch[chain];
  const isWatching = watch.length > 0;
  const id = sourceId({ name: 'validators', chain });
  const known = (): Validators => (lastValueOf(id) as Validators | undefined) ?? NO_VALIDATORS;
  return slashingsSource({
    chain,
    intervalMs: slashings.intervalMs,
    weight: WEIGHTS.slashings / chains.length,
    catchUpMs: slashings.catchUpMs,
    watch,
    groups: watchedOn(config, chain),
    readsProposerNames: isWatching && validators.proposerSlashings,
    seatsOf: isWatching && validators.syncCommittee ? (period) => seatsOf(known(), period) : undefined,
    slashedByStatus: () => known().validators.flatMap(({ slashed }) => slashed ?? []),
  });
}
