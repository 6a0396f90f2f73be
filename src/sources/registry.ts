import type * as z from 'zod';
import { fileOf } from '../config/config.ts';
import { type Loaded, type LoadOptions, load } from '../config/load.ts';
import type { Chain } from '../facts/chain.ts';
import { watchPerChain } from '../facts/fields.ts';
import { watchedGroups } from '../facts/groups.ts';
import { optional } from '../toolkit/yaml/fields.ts';
import * as daily_returns from './daily-returns/config.ts';
import { DAYS, dailyReturnsSource } from './daily-returns/index.ts';
import * as groups from './groups.ts';
import type { Past } from './history.ts';
import * as machines from './machines/config.ts';
import { RECORDS_OF_MACHINES } from './machines/history.ts';
import { machinesSource } from './machines/index.ts';
import * as network from './network/config.ts';
import { networkSource } from './network/index.ts';
import type { AskSafety } from './safety.ts';
import * as slashings from './slashings/config.ts';
import { slashingsSource } from './slashings/index.ts';
import type { Source, WatchOptions } from './source.ts';
import * as sync_committee from './sync-committee/config.ts';
import { syncCommitteeSource } from './sync-committee/index.ts';
import * as validators from './validators/config.ts';
import { validatorsSource } from './validators/index.ts';
import type { ValidatorsOptions } from './validators/options.ts';
import { safetyQuestion } from './validators/safety.ts';

/** The sections of the config file, in the order of config.example.yaml. */
const SECTIONS = { machines, groups, validators, daily_returns, slashings, sync_committee, network };

/** The config file. Durations come out in milliseconds. */
export const ConfigFile = optional(
  fileOf(SECTIONS).transform(({ daily_returns, sync_committee, validators, groups, ...others }) => {
    const only = others.chains[0]?.name ?? 'mainnet';
    const watch = watchPerChain([validators.watch, ...groups.map((group) => group.validators)], only);
    return {
      ...others,
      groups: groups.map(({ validators, ...group }) => ({ ...group, watch: watchPerChain([validators], only) })),
      validators: { ...validators, watch, enabled: Object.values(watch).some((ranges) => ranges.length > 0) },
      dailyReturns: daily_returns,
      syncCommittee: sync_committee,
    };
  }),
);

/** The configuration of the daemon. Does not contain the key, so it may be logged. */
export type Config = z.output<typeof ConfigFile>;
export type LoadedConfig = Loaded<Config>;

/** @throws ConfigError with every mistake at once. */
export function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  return load<Config>(ConfigFile, Object.values(SECTIONS), options);
}

type Create = (config: Config, chains: readonly Chain[]) => Source[];

/** The enabled sources of each name, in the order in which they are shown. */
const SOURCES: Readonly<Record<string, Create>> = {
  daily_returns: ({ dailyReturns: { enabled, intervalMs } }, chains) =>
    enabled ? chains.map((chain) => dailyReturnsSource(chain, intervalMs)) : [],
  sync_committee: ({ syncCommittee: { enabled, intervalMs } }, chains) =>
    enabled ? chains.map((chain) => syncCommitteeSource(chain, intervalMs)) : [],
  machines: ({ machines, groups }, chains) =>
    machines.enabled ? [machinesSource({ ...machines, groups, chains })] : [],
  validators: (config, chains) =>
    chains
      .map((chain) => validatorsOptions(config, chain))
      .filter(({ watch, status, syncCommittee }) => watch.length > 0 && (status || syncCommittee))
      .map(validatorsSource),
  // `auto`: beside one's own validators.
  network: ({ network: { enabled, intervalMs }, validators }, chains) =>
    chains
      .filter((chain) => (enabled === 'auto' ? validators.watch[chain].length > 0 : enabled))
      .map((chain) => networkSource({ chain, intervalMs, chains: chains.length })),
  slashings: (config, chains) => (config.slashings.enabled ? chains.map((chain) => slashingsOf(config, chain)) : []),
};
export const SOURCE_NAMES = Object.keys(SOURCES);

export const PASTS: Readonly<Record<string, Past>> = { daily_returns: DAYS, machines: RECORDS_OF_MACHINES };

export function sourcesOf(config: Config): Source[] {
  const chains = config.chains.map(({ name }) => name);
  return Object.values(SOURCES).flatMap((create) => create(config, chains));
}

/** Asks for each chain with watched validators whether a restart costs nothing. */
export function safetyQuestions(config: Config): AskSafety[] {
  const watched = config.chains.filter(({ name }) => config.validators.watch[name].length > 0);
  return watched.map(({ name }) => safetyQuestion(validatorsOptions(config, name)));
}

function watchedOn({ groups, validators, chains }: Config, chain: Chain): Omit<WatchOptions, 'intervalMs'> {
  const watch = validators.watch[chain];
  const ofChain = groups.map((group) => ({ name: group.name, watch: group.watch[chain] }));
  return { chain, chains: chains.length, watch, groups: watchedGroups(watch, ofChain) };
}

function validatorsOptions(config: Config, chain: Chain): ValidatorsOptions {
  const { validators } = config;
  return { ...validators, ...watchedOn(config, chain), rewards: validators.status && validators.rewards };
}

function slashingsOf(config: Config, chain: Chain): Source {
  const { slashings, validators } = config;
  const watched = watchedOn(config, chain);
  const isWatching = watched.watch.length > 0;
  return slashingsSource({
    ...slashings,
    ...watched,
    readsProposerNames: isWatching && validators.proposerSlashings,
    countsSeats: isWatching && validators.syncCommittee,
    readsOwnBlocks: isWatching && validators.blockRewards,
    feeRecipients: validators.feeRecipients,
  });
}
