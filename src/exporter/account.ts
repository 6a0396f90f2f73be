import { type Api, createApi, NO_OBSERVER, routeOf } from '../api/client.ts';
import type { Endpoint } from '../api/errors.ts';
import { createTransport, type Proxies } from '../api/transport.ts';
import { EMPTY_BUCKET, windowAt } from '../budget/bucket.ts';
import { usable } from '../budget/long-window.ts';
import { RateLimiter } from '../budget/rate-limiter.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import { LatestWriter } from '../state/latest.ts';
import type { StateStore } from '../state/store.ts';
import { apiOptionsOf } from './connection.ts';
import { LEDGER, restore } from './state.ts';
import { termsOf } from './terms.ts';

/** What the limits leave, as far as is known. */
export interface Allowance {
  /** Requests per second that are spent. */
  readonly perSecond: number;
  /** Requests that are left this hour and this month, where the plan limits them. */
  readonly left: { readonly hour?: number; readonly month?: number };
  /** Whether an answer or a configured plan has said so. */
  readonly isKnown: boolean;
}

/** The service behind the ledger that the daemon keeps, for a program that spends from it in the daemon's place. */
export interface Account {
  readonly api: Api;
  allowance(endpoint: Endpoint): Allowance;
  /** Drops the connections and writes the ledger. */
  close(): Promise<void>;
}

export interface AccountOptions {
  readonly config: Config;
  readonly key: string;
  readonly proxies?: Proxies | undefined;
  readonly documents: StateStore;
  readonly clock: Clock;
  /** The ledger could not be written. */
  readonly onError: (error: unknown) => void;
}

/** @throws StateRefused */
export async function openAccount(options: AccountOptions): Promise<Account> {
  const { config, key, documents, clock, onError } = options;
  const { ledger } = await restore(documents, [], key, clock.now());
  const terms = termsOf(config);
  const writer = new LatestWriter(() => documents.save(LEDGER, rateLimiter.ledger), onError);
  const rateLimiter = new RateLimiter(terms, {
    clock,
    ledger,
    onChange: () => writer.touch(),
    keep: () => writer.flush(),
  });
  const transport = createTransport({ timeoutMs: config.api.timeoutMs, proxies: options.proxies });
  const apiOptions = apiOptionsOf(config, key);
  const api = createApi(apiOptions, {
    budget: rateLimiter,
    transport: transport.send,
    observer: NO_OBSERVER,
    clock,
    random: Math.random,
  });
  return {
    api,
    allowance(endpoint) {
      const name = rateLimiter.bucketOf(routeOf(apiOptions, { endpoint }));
      const bucket = rateLimiter.ledger.buckets[name] ?? EMPTY_BUCKET;
      const leftOf = (window: 'hour' | 'month') => {
        const known = windowAt(bucket, window, terms, clock.now());
        return known ? { [window]: usable(known, terms.utilization) } : {};
      };
      return {
        perSecond: rateLimiter.perSecond(name) * terms.utilization,
        left: { ...leftOf('hour'), ...leftOf('month') },
        isKnown: rateLimiter.ledger.key.standing !== 'unknown',
      };
    },
    async close() {
      await transport.close();
      await writer.flush();
    },
  };
}
