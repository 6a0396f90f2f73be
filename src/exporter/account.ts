import type { Api } from '../api/client.ts';
import type { Endpoint } from '../api/errors.ts';
import { type BudgetOptions, EMPTY_BUCKET, perSecondOf, windowAt } from '../budget/bucket.ts';
import { bucketOf, type Ledger } from '../budget/ledger.ts';
import { usable } from '../budget/long-window.ts';
import type { UnixMs } from '../lib/time.ts';
import { budgetOptionsOf } from './budget-options.ts';
import { type Client, openClient, routesOf } from './client.ts';
import type { EngineOptions } from './role.ts';
import { LEDGER, restore } from './state.ts';

/** What is known of the limits that remain for one endpoint. */
export interface AccountLimits {
  /** Requests per second, after `utilization`. */
  readonly perSecond: number;
  /** Requests left in this hour and month, if the plan limits them. */
  readonly left: { readonly hour?: number; readonly month?: number };
  /** Whether an answer has confirmed the limits. */
  readonly isKnown: boolean;
}

/** Access to the service for a program that is not the daemon. */
export interface Account extends Pick<Client, 'close'> {
  readonly api: Api;
  allowance(endpoint: Endpoint): AccountLimits;
}

export interface AccountOptions
  extends Pick<EngineOptions, 'config' | 'key' | 'proxies' | 'documents' | 'replica' | 'clock'> {
  /** The ledger could not be written. */
  readonly onError: (error: unknown) => void;
}

/** Takes over the ledger of the daemon while the daemon does not run. @throws StateRefused */
export async function openAccount(options: AccountOptions): Promise<Account> {
  const { config, key, proxies, documents, replica, clock, onError } = options;
  const { ledger } = await restore(documents, [], key, clock.now());
  const save = (changed: Ledger): Promise<void> => documents.save(LEDGER, changed);
  const client = openClient({ settings: options, proxies, clock, ledger, save, onSaveError: onError, lease: replica });
  const budgetOptions = budgetOptionsOf(config);
  const routeOf = routesOf(config);
  return {
    api: client.api,
    close: client.close,
    allowance: (endpoint) => limitsIn(client.rateLimiter.ledger, routeOf({ endpoint }), budgetOptions, clock.now()),
  };
}

/** Pure. */
function limitsIn(ledger: Ledger, route: string, budgetOptions: BudgetOptions, now: UnixMs): AccountLimits {
  const bucket = ledger.buckets[bucketOf(ledger, route)] ?? EMPTY_BUCKET;
  const leftOf = (window: 'hour' | 'month') => {
    const known = windowAt(bucket, window, budgetOptions, now);
    return known ? { [window]: usable(known, budgetOptions.utilization) } : {};
  };
  return {
    perSecond: perSecondOf(bucket, budgetOptions) * budgetOptions.utilization,
    left: { ...leftOf('hour'), ...leftOf('month') },
    isKnown: ledger.key.standing !== 'unknown',
  };
}
