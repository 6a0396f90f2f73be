import { CHAIN_NAMES, CHAINS, type Chain } from '../lib/chain.ts';
import type { ConfigFile } from './schema.ts';

/** What the daemon is configured to do. Without the key: a config may be shown. */
export type Config = ReturnType<typeof configOf>;

type IndexRanges = { first: number; last: number }[];

/** Fills in what depends on other parts of the file, which must name only configured chains (chains.ts). */
export function configOf(file: ConfigFile) {
  const names = CHAIN_NAMES.filter((name) => file.chains[name] !== undefined);
  const [first = 'mainnet'] = names;
  const chains = names.map((name) => ({ name, v1BaseUrl: file.chains[name]?.v1_base_url ?? CHAINS[name].v1BaseUrl }));
  return {
    api: file.api,
    budget: file.budget,
    /** At least one. */
    chains,
    machines: { ...file.machines, chain: file.machines.chain ?? first },
    dailyReturns: file.daily_returns,
    slashings: { ...file.slashings, watch: watchPerChain(file.slashings.watch, first) },
    syncCommittee: file.sync_committee,
    state: file.state,
    web: file.web,
    log: file.log,
  };
}

/** A list without chains is for the only chain. */
function watchPerChain(watch: ConfigFile['slashings']['watch'], only: Chain): Readonly<Record<Chain, IndexRanges>> {
  const perChain = Array.isArray(watch) ? { [only]: watch } : watch;
  return Object.fromEntries(CHAIN_NAMES.map((chain) => [chain, perChain[chain] ?? []])) as Record<Chain, IndexRanges>;
}
