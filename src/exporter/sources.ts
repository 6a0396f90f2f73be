import type { Config } from '../config/config.ts';
import type { Chain } from '../lib/chain.ts';
import type { Logger } from '../lib/log.ts';
import type { UnixMs } from '../lib/time.ts';
import { dailyReturnsSource } from '../sources/daily-returns/index.ts';
import { machinesSource } from '../sources/machines/index.ts';
import { slashingsSource } from '../sources/slashings/index.ts';
import { watches, watchOf } from '../sources/slashings/watch.ts';
import type { Source } from '../sources/source.ts';
import { syncCommitteeSource } from '../sources/sync-committee/index.ts';
import type { MembersOptions } from '../sources/sync-committee/options.ts';
import { budgetOptionsOf } from './budget-options.ts';
import { routesOf } from './client.ts';
import type { ViewOptions } from './picture.ts';
import { logSlashing } from './slashing-log.ts';

/** How the state is shown with this configuration. */
export function viewOptionsOf(config: Config, log: Logger, operatorAt: UnixMs): ViewOptions {
  return {
    sources: sourcesOf(config, log, operatorAt),
    budgetOptions: budgetOptionsOf(config),
    routeOf: routesOf(config),
  };
}

/**
 * Every enabled source, the cheapest first. The chains of a source share its weight. `operatorAt` is when the operator
 * started or reloaded the program: what was refused before may be asked again.
 */
export function sourcesOf(config: Config, log: Logger, operatorAt: UnixMs): Source[] {
  const chains = config.chains.map(({ name }) => name);
  const { machines, dailyReturns, slashings, syncCommittee } = config;
  return [
    ...(dailyReturns.enabled ? chains : []).map((chain) =>
      dailyReturnsSource({
        chain,
        intervalMs: dailyReturns.intervalMs,
        weight: dailyReturns.weight / chains.length,
        path: config.api.dailyReturnsPath,
      }),
    ),
    ...(syncCommittee.enabled ? chains : []).map((chain) =>
      syncCommitteeSource({
        chain,
        intervalMs: syncCommittee.intervalMs,
        weight: syncCommittee.weight / chains.length,
        members: membersOf(config, chain, log, operatorAt),
      }),
    ),
    ...(machines.enabled
      ? [
          machinesSource({ ...machines, chains }, (reason, names) =>
            log.warn(
              { source: 'machines', reason, machines: names },
              names ? 'network counters withheld' : 'machine metrics were read only in part',
            ),
          ),
        ]
      : []),
    ...(slashings.enabled ? chains : []).map((chain) => slashingsOf(config, chain, log, operatorAt)),
  ];
}

/** Undefined if there are no validators to look for. */
function membersOf(
  { slashings, syncCommittee }: Config,
  chain: Chain,
  log: Logger,
  operatorAt: UnixMs,
): MembersOptions | undefined {
  if (!syncCommittee.members) return undefined;
  const watch = watchOf(slashings.watch[chain]);
  if (watch.length === 0) return undefined;
  return {
    isWatched: (validator) => watches(watch, validator),
    operatorAt,
    onRefused: ({ message }) =>
      log.warn({ source: 'sync_committee', chain, err: message }, 'sync committee members cannot be read'),
  };
}

function slashingsOf({ slashings, chains }: Config, chain: Chain, log: Logger, operatorAt: UnixMs): Source {
  const watch = watchOf(slashings.watch[chain]);
  return slashingsSource({
    chain,
    intervalMs: slashings.intervalMs,
    weight: slashings.weight / chains.length,
    catchUpMs: slashings.catchUpMs,
    watch,
    proposerNames: slashings.proposerNames,
    operatorAt,
    onSlashing: (slashing) => logSlashing(log, chain, watch, slashing),
    onMissedProposal: ({ slot, validator, status }) =>
      log.warn({ chain, slot, validator, status }, 'watched validator missed a proposal'),
    onUnnamed: ({ message }) =>
      log.warn({ source: 'slashings', chain, err: message }, 'names of slashed proposers cannot be read'),
    onSkipped: (epochs) => log.warn({ source: 'slashings', chain, epochs }, 'finalized epochs skipped'),
  });
}
