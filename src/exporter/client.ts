import {
  type Api,
  type ApiDependencies,
  type ApiObserver,
  type ApiOptions,
  createApi,
  routeOf,
  withoutKey,
} from '../api/client.ts';
import type { Endpoint } from '../api/endpoints.ts';
import { type CreateTransport, createTransport, type Proxies, type Transport } from '../api/transport.ts';
import { type BudgetOptions, EMPTY_BUCKET, perSecondOf, windowAt } from '../budget/bucket.ts';
import { bucketOf, type Ledger, lacking } from '../budget/ledger.ts';
import { LONG_WINDOWS, type LongWindowName } from '../budget/long-window.ts';
import type { Budget } from '../budget/permit.ts';
import { RateLimiter } from '../budget/rate-limiter.ts';
import type { Chain } from '../facts/chain.ts';
import { PLANS } from '../facts/plans.ts';
import { VERSION } from '../facts/version.ts';
import type { Config } from '../sources/registry.ts';
import type { Seconds } from '../toolkit/lib/time.ts';
import { LeaseLost, type Replica } from '../toolkit/state/replica.ts';
import { latestWriter, type StateStore } from '../toolkit/state/store.ts';
import type { Settings } from './settings.ts';
import { LEDGER, restore } from './state.ts';

/** What a simulation replaces: the connections, and the random numbers of retries, in [0, 1). */
export interface Outside {
  readonly createTransport: CreateTransport;
  readonly random: () => number;
}

const OUTSIDE: Outside = { createTransport, random: Math.random };

export interface ClientOptions {
  /** The settings as they are now: a reload can change them in the middle of a poll. */
  readonly settings: () => Settings;
  /** Default: none. */
  readonly proxies?: Proxies | undefined;
  readonly clock: ApiDependencies['clock'];
  /** As left by the previous run. */
  readonly ledger: Ledger;
  /** Writes the ledger some seconds after a change, or at once after a refusal. Default: the ledger is not kept. */
  readonly save?: (ledger: Ledger) => Promise<void>;
  readonly onSaveError?: (error: unknown) => void;
  /** Called when a response has closed the budget, after the ledger with the wait was written or its write failed. */
  readonly onClosed?: (ledger: Ledger) => void;
  /** Called when a request has waited for the budget. */
  readonly onWait?: (seconds: Seconds) => void;
  readonly observer?: ApiObserver;
  readonly onOdd?: ApiDependencies['onOdd'];
  readonly transport?: (send: Transport) => Transport;
  readonly outside?: Outside | undefined;
  /** Set if several processes share the account: nothing is sent without the lease. */
  readonly leads?: (() => boolean) | undefined;
}

/** Access to the service within the limits of the account. */
export interface Client {
  readonly api: Api;
  /** Keeps the ledger. */
  readonly limiter: RateLimiter;
  /** Writes the ledger, before the first request of a process. Resolves also if that fails. */
  begin(): Promise<void>;
  /** Drops the connections and writes the ledger. */
  close(): Promise<void>;
}

/** The ledger changes with every request and response, which is too often to write each change. */
const LEDGER_EVERY_MS = 5_000;

export function openClient(options: ClientOptions): Client {
  const { clock, observer, onOdd, leads, settings, outside = OUTSIDE } = options;
  const { save = async () => undefined, onSaveError = () => undefined, onClosed = () => undefined } = options;
  const { transport = (send) => send } = options;
  let isClosing = false;
  const writer = latestWriter({
    write: () => {
      const ledger = limiter.settleLedger();
      const written = isClosing ? ledger : lacking(ledger, LEDGER_EVERY_MS);
      return save({ ...written, correctionMs: clock.correctionMs ?? 0 });
    },
    onError: onSaveError,
    clock,
    everyMs: LEDGER_EVERY_MS,
  });
  const limiter = new RateLimiter(budgetOptionsOf(settings().config), {
    clock,
    ledger: options.ledger,
    onChange: () => writer.touch(),
    onWait: options.onWait,
    keep: () => writer.flush().then(() => onClosed(limiter.settleLedger())),
  });
  // Another process may have sent a request a moment ago that the ledger does not contain.
  limiter.keepQuiet();
  const connections = connectionsOf(options, outside);
  const api = createApi(() => apiOptionsOf(settings()), {
    budget: leads ? leased(limiter, leads) : limiter,
    transport: transport(connections.send),
    observer,
    onOdd,
    clock,
    random: outside.random,
  });
  async function close(): Promise<void> {
    await connections.close().finally(() => {
      isClosing = true;
      // The last write is complete: no request follows.
      writer.touch();
      return writer.close();
    });
  }
  function begin(): Promise<void> {
    writer.touch();
    return writer.flush();
  }
  return { api, limiter, begin, close };
}

export function budgetOptionsOf({ budget }: Config): BudgetOptions {
  const { plan, utilization } = budget;
  if (plan === 'auto') return { utilization };
  return { utilization, ...(typeof plan === 'string' ? PLANS[plan] : plan) };
}

/** The route of requests to an endpoint, as the client chooses it. */
export function routesOf(config: Config): (endpoint: Endpoint, chain: Chain | undefined) => string {
  const options = apiOptionsOf({ config, key: '' });
  return (endpoint, chain) => routeOf(options, { endpoint, ...(chain && { chain }) });
}

export function apiOptionsOf({ config, key }: Pick<Settings, 'config'> & { readonly key?: string }): ApiOptions {
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
function connectionsOf({ settings, proxies }: ClientOptions, outside: Outside) {
  const byTimeout = new Map<number, ReturnType<CreateTransport>>();
  const send: Transport = async (wire, signal) => {
    const { key, config } = settings();
    const { timeoutMs } = config.api;
    const transport = byTimeout.get(timeoutMs) ?? outside.createTransport({ timeoutMs, proxies });
    byTimeout.set(timeoutMs, transport);
    return withoutKey(await transport.send(wire, signal), key);
  };
  const close = async (): Promise<void> => {
    await Promise.all([...byTimeout.values()].map((transport) => transport.close()));
  };
  return { send, close };
}

/** Access to the service for a program that is not the daemon. */
export interface Account extends Pick<Client, 'api' | 'close'> {
  /** Requests per second to one endpoint, after `utilization`, and those left in this hour and month, if the plan limits them. */
  allowance(endpoint: Endpoint): { perSecond: number; left: Partial<Record<LongWindowName, number>> };
}

export interface AccountOptions extends Pick<ClientOptions, 'proxies' | 'clock' | 'onSaveError'> {
  readonly settings: Settings;
  readonly documents: StateStore;
  /** The same as `documents`, if several processes share them. */
  readonly replica?: Replica | undefined;
}

/** Takes over the ledger of the daemon while the daemon does not run. @throws StateRefused */
export async function openAccount(options: AccountOptions): Promise<Account> {
  const { settings, documents, replica, clock } = options;
  const { ledger } = await restore(documents, [], settings.key, clock.now());
  const { api, limiter, begin, close } = openClient({
    ...options,
    settings: () => settings,
    ledger,
    save: (changed) => documents.save(LEDGER, changed),
    leads: replica && (() => replica.checkLead()),
  });
  await begin();
  const budgetOptions = budgetOptionsOf(settings.config);
  return {
    api,
    close,
    allowance(endpoint) {
      const current = limiter.settleLedger();
      const route = routeOf(apiOptionsOf(settings), { endpoint });
      const bucket = current.buckets[bucketOf(current, route)] ?? EMPTY_BUCKET;
      const left = LONG_WINDOWS.flatMap((name) => {
        const window = windowAt(bucket, name, budgetOptions, clock.now());
        return window ? [[name, window.left]] : [];
      });
      return {
        perSecond: perSecondOf(bucket, budgetOptions) * budgetOptions.utilization,
        left: Object.fromEntries(left),
      };
    },
  };
}
