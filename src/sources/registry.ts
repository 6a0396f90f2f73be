import type * as z from 'zod';
import { fileOf } from '../config/config.ts';
import { type Loaded, type LoadOptions, load } from '../config/load.ts';
import { CHAIN_NAMES, type Chain } from '../facts/chain.ts';
import { type WatchPerChain, watchPerChain } from '../facts/fields.ts';
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
import type { Inputs } from './read.ts';
import type { AskSafety } from './safety.ts';
import * as slashings from './slashings/config.ts';
import { slashingsSource } from './slashings/index.ts';
import type { Source, WatchOptions } from './source.ts';
import * as sync_committee from './sync-committee/config.ts';
import { syncCommitteeSource } from './sync-committee/index.ts';
import * as validators from './validators/config.ts';
import { EPOCHS } from './validators/history.ts';
import { validatorsSource } from './validators/index.ts';
import type { ValidatorsOptions } from './validators/options.ts';
import { safetyQuestion } from './validators/safety.ts';

/** The sections of the config file, in the order of config.example.yaml. */
const SECTIONS = { machines, groups, validators, daily_returns, slashings, sync_committee, network };

/** The config file, with durations in milliseconds. */
export const ConfigFile = optional(
  fileOf(SECTIONS).transform(({ daily_returns, sync_committee, validators, groups, ...others }) => {
    const chains = others.chains.map(({ name }) => name);
    const { watch, watch_files: files, ...settings } = validators;
    const watched = watchPerChain([watch, ...files, ...groups.map((group) => group.validators)], chains);
    return {
      ...others,
      groups: groups.map(({ validators, ...group }) => {
        const { watch, keys } = watchPerChain([validators], chains);
        return { ...group, ...({ watch, keys } as groups.GroupWatch) };
      }),
      validators: { ...settings, ...watched, enabled: CHAIN_NAMES.some((chain) => isWatching(watched, chain)) },
      dailyReturns: daily_returns,
      syncCommittee: sync_committee,
    };
  }),
);

/** The configuration of the daemon. Has no key, so it may be logged. */
export type Config = z.output<typeof ConfigFile>;
export type LoadedConfig = Loaded<Config>;

/** @throws ConfigError with every mistake at once. */
export function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  return load<Config>(ConfigFile, Object.values(SECTIONS), options);
}

type Create = (config: Config, chains: readonly Chain[]) => Source[];

/** The enabled sources of each name, in display order. */
const SOURCES: Readonly<Record<string, Create>> = {
  daily_returns: ({ dailyReturns: { enabled, intervalMs } }, chains) =>
    enabled ? chains.map((chain) => dailyReturnsSource(chain, intervalMs)) : [],
  sync_committee: ({ syncCommittee: { enabled, intervalMs } }, chains) =>
    enabled ? chains.map((chain) => syncCommitteeSource(chain, intervalMs)) : [],
  machines: ({ machines, groups }, chains) =>
    machines.enabled ? [machinesSource({ ...machines, groups, chains })] : [],
  validators: (config, chains) =>
    chains
      .filter((chain) => isWatching(config.validators, chain))
      .map((chain) => validatorsOptions(config, chain))
      .filter(({ status, syncCommittee, epochs }) => status || syncCommittee || epochs !== false)
      .map(validatorsSource),
  // `auto`: only with watched validators.
  network: ({ network: { enabled, intervalMs }, validators }, chains) =>
    chains
      .filter((chain) => (enabled === 'auto' ? isWatching(validators, chain) : enabled))
      .map((chain) => networkSource({ chain, intervalMs, chains: chains.length })),
  slashings: (config, chains) => (config.slashings.enabled ? chains.map((chain) => slashingsOf(config, chain)) : []),
};
export const SOURCE_NAMES = Object.keys(SOURCES);

export const PASTS: Readonly<Record<string, Past>> = {
  daily_returns: DAYS,
  machines: RECORDS_OF_MACHINES,
  validators: EPOCHS,
};

export function sourcesOf(config: Config): Source[] {
  const chains = config.chains.map(({ name }) => name);
  return Object.values(SOURCES).flatMap((create) => create(config, chains));
}

/**
 * Asks for each chain with watched validators whether a restart is safe.
 * @param inputsOf The keys of a chain that the state has
 */
export function safetyQuestions(config: Config, inputsOf: (chain: Chain) => Inputs): AskSafety[] {
  const watched = config.chains.filter(({ name }) => isWatching(config.validators, name));
  return watched.map(({ name }) => safetyQuestion(validatorsOptions(config, name), inputsOf(name)));
}

function isWatching({ watch, keys }: Pick<WatchPerChain, 'watch' | 'keys'>, chain: Chain): boolean {
  return watch[chain].length > 0 || keys[chain].length > 0;
}

function watchedOn({ groups, validators, chains }: Config, chain: Chain): Omit<WatchOptions, 'intervalMs'> {
  const watch = validators.watch[chain];
  const keys = validators.keys[chain];
  const ofChain = groups.map((group) => ({
    name: group.name,
    watch: group.watch[chain],
    keys: group.keys?.[chain] ?? [],
  }));
  const watched = { chain, chains: chains.length, watch, groups: watchedGroups(watch, ofChain, keys) };
  if (keys.length === 0) return watched;
  const anywhere = new Set(validators.anywhere);
  return { ...watched, keys: { keys, anywhere, groups: ofChain } };
}

function validatorsOptions(config: Config, chain: Chain): ValidatorsOptions {
  const { status, rewards, syncCommittee, intervalMs, catchUpMs, series } = config.validators;
  const parts = { status, rewards: status && rewards, syncCommittee, intervalMs };
  // The slashings source knows which epochs are final.
  const epochs = config.slashings.enabled && config.validators.epochs;
  return { ...parts, epochs, catchUpMs, series, ...watchedOn(config, chain) };
}

function slashingsOf(config: Config, chain: Chain): Source {
  const { slashings, validators } = config;
  const watched = watchedOn(config, chain);
  const isOn = isWatching(validators, chain);
  return slashingsSource({
    ...slashings,
    ...watched,
    readsProposerNames: isOn && validators.proposerSlashings,
    countsSeats: isOn && validators.syncCommittee,
    readsOwnBlocks: isOn && validators.blockRewards,
    feeRecipients: validators.feeRecipients,
  });
}
