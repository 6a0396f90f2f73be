import type { Api } from '../api/client.ts';
import type { Endpoint } from '../api/endpoints.ts';
import { type BudgetOptions, EMPTY_BUCKET, perSecondOf, windowAt } from '../budget/bucket.ts';
import { bucketOf, type Ledger } from '../budget/ledger.ts';
import type { Clock } from '../toolkit/lib/clock.ts';
import type { Proxies } from '../toolkit/lib/proxies.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import type { Replica } from '../toolkit/state/replica.ts';
import type { StateStore } from '../toolkit/state/store.ts';
import { budgetOptionsOf, type Client, openClient, routesOf } from './client.ts';
import type { Settings } from './settings.ts';
import { LEDGER, restore } from './state.ts';

/** The remaining limits for one endpoint. */
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

export interface AccountOptions {
  readonly settings: Settings;
  readonly proxies?: Proxies | undefined;
  readonly documents: StateStore;
  /** The same as `documents`, if several processes share them. */
  readonly replica?: Replica | undefined;
  readonly clock: Clock;
  /** The ledger could not be written. */
  readonly onError: (error: unknown) => void;
}

/** Takes over the ledger of the daemon while the daemon does not run. @throws StateRefused */
export async function openAccount(options: AccountOptions): Promise<Account> {
  const { settings, proxies, documents, replica, clock, onError } = options;
  const { ledger } = await restore(documents, [], settings.key, clock.now());
  const save = (changed: Ledger): Promise<void> => documents.save(LEDGER, changed);
  const client = openClient({
    settings: () => settings,
    proxies,
    clock,
    ledger,
    save,
    onSaveError: onError,
    leads: replica && (() => replica.checkLead()),
  });
  const budgetOptions = budgetOptionsOf(settings.config);
  const routeOf = routesOf(settings.config);
  return {
    api: client.api,
    close: client.close,
    allowance: (endpoint) =>
      limitsIn(client.limiter.ledger, routeOf({ endpoints: [endpoint] }), budgetOptions, clock.now()),
  };
}

/** Pure. */
function limitsIn(ledger: Ledger, route: string, budgetOptions: BudgetOptions, now: UnixMs): AccountLimits {
  const bucket = ledger.buckets[bucketOf(ledger, route)] ?? EMPTY_BUCKET;
  const leftOf = (window: 'hour' | 'month') => {
    const known = windowAt(bucket, window, budgetOptions, now);
    return known ? { [window]: known.left } : {};
  };
  return {
    perSecond: perSecondOf(bucket, budgetOptions) * budgetOptions.utilization,
    left: { ...leftOf('hour'), ...leftOf('month') },
    isKnown: ledger.key.standing !== 'unknown',
  };
}
