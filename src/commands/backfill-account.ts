import type { Config } from '../config/config.ts';
import { type Account, openAccount } from '../exporter/account.ts';
import { fingerprintOf, openState, StateRefused } from '../exporter/state.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Proxies } from '../lib/proxies.ts';
import { type Borrowed, borrow, SocketRefused } from '../sharing/client.ts';
import { SHARED_ENDPOINTS } from '../sharing/protocol.ts';
import { socketPathOf } from '../sharing/socket-path.ts';
import { StateLocked } from '../state/lock.ts';
import { BackfillRefused } from './backfill-errors.ts';
import type { Flags } from './flag-table.ts';

export interface LedgerContext {
  readonly config: Config;
  readonly key: string;
  readonly proxies?: Proxies | undefined;
  readonly flags: Pick<Flags, 'yes'>;
  readonly log: Logger;
  readonly clock: Clock;
  readonly terminal: { write(text: string): void };
  readonly signal: AbortSignal;
}

/**
 * Two processes with separate ledgers would both spend the whole remaining budget. Therefore the backfill uses the
 * ledger of the running exporter or, if none is running, the one in `state.dir`. @throws BackfillRefused; the signal's
 * reason when it aborts
 */
export async function openLedger(context: LedgerContext, opened: AsyncDisposableStack): Promise<Account> {
  if (context.config.state.redis) {
    throw new BackfillRefused(
      'state.redis: the ledger in Redis belongs to the replica that polls. Give the backfill a configuration with its ' +
        'own state.dir, and set budget.utilization to about half in both configurations.',
    );
  }
  return (await throughExporter(context)) ?? inItsPlace(context, opened);
}

/** Undefined: no exporter listens in the directory. */
async function throughExporter({ config, key, flags, clock, terminal, signal }: LedgerContext) {
  const path = socketPathOf(config.state.dir);
  if (path === undefined) return undefined;
  const borrowed = await borrow({ path, isAgreed: flags.yes ?? false, clock, signal }).catch((error: unknown) => {
    throw error instanceof SocketRefused ? new BackfillRefused(`${error.message}.`) : error;
  });
  if (!borrowed) return undefined;
  const { pid, fingerprint } = borrowed.greeting;
  const other = fingerprint === fingerprintOf(key) ? '' : ', and use its API key, which differs from yours';
  terminal.write(`The exporter (pid ${pid}) is running: requests go through it, after its own polls${other}.\n`);
  return accountOf(borrowed);
}

function accountOf({ api, limits }: Borrowed): Account {
  return {
    api,
    close: async () => undefined,
    allowance: (endpoint) => {
      const shared = SHARED_ENDPOINTS.find((one) => one === endpoint) ?? 'machine_metrics';
      return { ...limits()[shared], isBeside: true };
    },
  };
}

async function inItsPlace(context: LedgerContext, opened: AsyncDisposableStack): Promise<Account> {
  const { config, key, proxies, log, clock } = context;
  const documents = await openState(config.state.dir, clock, log).catch((error: unknown) => {
    if (!(error instanceof StateRefused)) throw error;
    throw new BackfillRefused(`${error.message}.\n${adviceOn(error, config.state.dir)}`);
  });
  opened.defer(() => documents.close());
  const account = await openAccount({
    config,
    key,
    proxies,
    documents,
    clock,
    onError: (error) => log.error({ err: String(error) }, 'ledger not written'),
  });
  opened.defer(() => account.close());
  return account;
}

function adviceOn({ cause }: StateRefused, dir: string): string {
  const ledger = 'A backfill uses the same ledger of limits as the exporter, and only one process can keep it';
  if (!(cause instanceof StateLocked)) return `${ledger}.`;
  return socketPathOf(dir) === undefined
    ? `${ledger}: stop the exporter during the backfill, because this path is too long for the socket that shares the ledger.`
    : `${ledger}. The process that keeps it now does not share it: it is another backfill, or an exporter without a socket (its log gives the reason).`;
}
