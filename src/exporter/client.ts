import {
  type Api,
  type ApiDependencies,
  type ApiObserver,
  type ApiOptions,
  createApi,
  routeOf,
} from '../api/client.ts';
import type { Transport } from '../api/transport.ts';
import type { BudgetOptions } from '../budget/bucket.ts';
import type { Ledger } from '../budget/ledger.ts';
import type { Budget } from '../budget/permit.ts';
import { RateLimiter } from '../budget/rate-limiter.ts';
import type { Config } from '../config/config.ts';
import type { Chain } from '../facts/chain.ts';
import { PLANS } from '../facts/plans.ts';
import { VERSION } from '../facts/version.ts';
import type { Source } from '../sources/source.ts';
import type { Proxies } from '../toolkit/lib/proxies.ts';
import type { Seconds } from '../toolkit/lib/time.ts';
import { LeaseLost } from '../toolkit/state/replica.ts';
import { latestWriter } from '../toolkit/state/store.ts';
import { OUTSIDE, type Outside } from './outside.ts';
import type { Settings } from './settings.ts';

export interface ClientOptions {
  /** The settings as they are now: a reload can change them in the middle of a poll. */
  readonly settings: () => Settings;
  /** Default: none. */
  readonly proxies?: Proxies | undefined;
  readonly clock: ApiDependencies['clock'];
  /** As left by the previous run. */
  readonly ledger: Ledger;
  /** Whether another process may have sent requests a moment ago that the ledger does not know of. */
  readonly hasPredecessor?: boolean | undefined;
  /** Called whenever the ledger has changed; default: it is not kept. */
  readonly save?: (ledger: Ledger) => Promise<void>;
  /** The ledger could not be written. */
  readonly onSaveError?: (error: unknown) => void;
  /** A response closed the budget, and the ledger with the wait is persisted. */
  readonly onClosed?: (ledger: Ledger) => void;
  /** A request has waited for the budget. */
  readonly onWait?: (seconds: Seconds) => void;
  readonly observer?: ApiObserver;
  /** Wraps the transport. */
  readonly transport?: (send: Transport) => Transport;
  /** Replaced in simulations. */
  readonly outside?: Pick<Outside, 'createTransport' | 'random'> | undefined;
  /** Set if several processes share the account: nothing is sent without the lease. */
  readonly leads?: (() => boolean) | undefined;
}

/** Access to the service within the limits of the account. */
export interface Client {
  readonly api: Api;
  /** Keeps the ledger. */
  readonly limiter: RateLimiter;
  /** Drops the connections and writes the ledger. */
  close(): Promise<void>;
}

export function openClient(options: ClientOptions): Client {
  const { clock, observer, leads, settings, outside = OUTSIDE } = options;
  const { save = async () => undefined, onSaveError = () => undefined, onClosed = () => undefined } = options;
  const { transport = (send) => send } = options;
  const writer = latestWriter(() => save(limiter.ledger), onSaveError, clock);
  const limiter = new RateLimiter(budgetOptionsOf(settings().config), {
    clock,
    ledger: options.ledger,
    onChange: () => writer.touch(),
    onWait: options.onWait,
    keep: () => writer.flush().then(() => onClosed(limiter.ledger)),
    hasPredecessor: options.hasPredecessor,
  });
  const connections = connectionsOf(options, outside);
  const api = createApi(() => apiOptionsOf(settings()), {
    budget: leads ? leased(limiter, leads) : limiter,
    transport: transport(connections.send),
    observer,
    clock,
    random: outside.random,
  });
  return { api, limiter, close: () => connections.close().finally(() => writer.close()) };
}

/** The configured budget. */
export function budgetOptionsOf({ budget }: Config): BudgetOptions {
  const { plan, utilization } = budget;
  if (plan === 'auto') return { utilization };
  return { utilization, ...(typeof plan === 'string' ? PLANS[plan] : plan) };
}

/** The route of the first request of a poll, as the client chooses it. */
export function routesOf(config: Config): (source: Pick<Source, 'endpoints' | 'chain'>) => string {
  const options = apiOptionsOf({ config, key: '' });
  return ({ endpoints: [endpoint], chain }) => routeOf(options, { endpoint, ...(chain && { chain }) });
}

/** Whether requests for a chain (undefined: for none in particular) would go to another host or have another key. */
export function isOtherService(now: Settings, next: Settings, chain: Chain | undefined): boolean {
  const [before, after] = [apiOptionsOf(now), apiOptionsOf(next)];
  const isOtherV1 = chain !== undefined && before.v1BaseUrls[chain] !== after.v1BaseUrls[chain];
  return before.key !== after.key || before.baseUrl !== after.baseUrl || isOtherV1;
}

function apiOptionsOf({ config, key }: Settings): ApiOptions {
  return {
    baseUrl: config.api.baseUrl,
    v1BaseUrls: Object.fromEntries(config.chains.map(({ name, v1BaseUrl }) => [name, v1BaseUrl])),
    key,
    userAgent: `beaconchain-exporter/${VERSION}`,
  };
}

/** Checks the lease after the wait for the permit, during which the process may have slept. */
export function leased(budget: Budget, leads: () => boolean): Budget {
  return {
    async acquire(request, signal) {
      const permit = await budget.acquire(request, signal);
      if (leads()) return permit;
      permit.release(undefined);
      throw new LeaseLost();
    },
  };
}

/** A request in progress keeps the timeout with which it began. Unused connections close by themselves. */
function connectionsOf({ settings, proxies }: ClientOptions, { createTransport }: Pick<Outside, 'createTransport'>) {
  const byTimeout = new Map<number, ReturnType<Outside['createTransport']>>();
  const send: Transport = (wire, signal) => {
    const { timeoutMs } = settings().config.api;
    const transport = byTimeout.get(timeoutMs) ?? createTransport({ timeoutMs, proxies });
    byTimeout.set(timeoutMs, transport);
    return transport.send(wire, signal);
  };
  const close = async (): Promise<void> => {
    await Promise.all([...byTimeout.values()].map((transport) => transport.close()));
  };
  return { send, close };
}
