import type { Config } from '../config/config.ts';
import { type Account, openAccount } from '../exporter/account.ts';
import { openState, StateRefused } from '../exporter/state.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Proxies } from '../lib/proxies.ts';
import { BackfillRefused } from './backfill-errors.ts';

export interface LedgerContext {
  readonly config: Config;
  readonly key: string;
  readonly proxies?: Proxies | undefined;
  readonly log: Logger;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Only one process may use the ledger, because two would each spend what is left. */
export async function openLedger(context: LedgerContext, opened: AsyncDisposableStack): Promise<Account> {
  const { config, key, proxies, log, clock, signal } = context;
  if (config.state.redis) {
    throw new BackfillRefused(
      'state.redis: the ledger there belongs to the replica that polls. Give the backfill a configuration with a ' +
        'state.dir of its own, and both about half of budget.utilization.',
    );
  }
  const documents = await openState(config.state.dir, clock, log, signal).catch((error: unknown) => {
    if (!(error instanceof StateRefused)) throw error;
    throw new BackfillRefused(
      `${error.message}.\nA backfill spends from the same ledger of limits, which one process keeps at a time.`,
    );
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
