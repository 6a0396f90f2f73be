import { type Api, type ApiObserver, type ApiOptions, createApi, type OnAnswer, routeOf } from '../api/client.ts';
import type { CreateTransport, Transport } from '../api/transport.ts';
import type { Ledger } from '../budget/ledger.ts';
import type { Budget } from '../budget/permit.ts';
import { RateLimiter, type RateLimiterDependencies } from '../budget/rate-limiter.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Proxies } from '../lib/proxies.ts';
import { VERSION } from '../lib/version.ts';
import { LeaseLost } from '../replica/lease.ts';
import type { Replica } from '../replica/replica.ts';
import type { Source } from '../sources/source.ts';
import { LatestWriter } from '../state/latest.ts';
import { budgetOptionsOf } from './budget-options.ts';
import { OUTSIDE, type Outside } from './outside.ts';
import type { Settings } from './settings.ts';

export interface ClientOptions extends Pick<RateLimiterDependencies, 'hasPredecessor'> {
  readonly settings: Settings;
  /** Default: none. */
  readonly proxies?: Proxies | undefined;
  readonly clock: Clock;
  /** As left by the previous run. */
  readonly ledger: Ledger;
  /** Called whenever the ledger has changed; default: it is not kept. */
  readonly save?: (ledger: Ledger) => Promise<void>;
  /** The ledger could not be written. */
  readonly onSaveError?: (error: unknown) => void;
  /** A response closed the budget, and the ledger with the wait is persisted. */
  readonly onClosed?: (ledger: Ledger) => void;
  readonly observer?: ApiObserver;
  readonly onAnswer?: OnAnswer;
  /** Wraps the transport. */
  readonly transport?: (send: Transport) => Transport;
  /** Replaced in simulations. */
  readonly outside?: Pick<Outside, 'createTransport' | 'random'> | undefined;
  /** Set if several processes share the account. */
  readonly lease?: Pick<Replica, 'leads'> | undefined;
}

/** Access to the service with the current settings, within the limits of the account. */
export interface Client {
  /** Follows the current settings, also in the middle of a poll. */
  readonly api: Api;
  /** Keeps the ledger. */
  readonly rateLimiter: RateLimiter;
  /** Writes the ledger once more, because what was written may be lost. */
  writeAgain(): void;
  /** Whether a source would ask another host or use another key. */
  isOtherFor(source: Pick<Source, 'chain'>, next: Settings): boolean;
  /** Continues with other settings and the ledger of their key. */
  adopt(next: Settings, ledger: Ledger): void;
  /** Drops the connections and writes the ledger. */
  close(): Promise<void>;
}

export function openClient(options: ClientOptions): Client {
  const { clock, observer, onAnswer, lease } = options;
  const { save = async () => undefined, onSaveError = () => undefined, onClosed = () => undefined } = options;
  const { transport = (send) => send, outside = OUTSIDE } = options;
  let { settings } = options;
  const writer = new LatestWriter(() => save(rateLimiter.ledger), onSaveError);
  const rateLimiter = new RateLimiter(budgetOptionsOf(settings.config), {
    clock,
    ledger: options.ledger,
    onChange: () => writer.touch(),
    keep: () => writer.flush().then(() => onClosed(rateLimiter.ledger)),
    hasPredecessor: options.hasPredecessor,
  });
  const connections = connectionsOf(() => settings, options.proxies, outside.createTransport);
  const dependencies = {
    budget: lease ? leased(rateLimiter, lease) : rateLimiter,
    transport: transport(connections.send),
    observer,
    onAnswer,
    clock,
    random: outside.random,
  };
  let api = createApi(apiOptionsOf(settings), dependencies);
  return {
    api: {
      request: (request, envelope, signal) => api.request(request, envelope, signal),
      records: (endpoint, record, items, isPlausible) => api.records(endpoint, record, items, isPlausible),
    },
    rateLimiter,
    writeAgain: () => writer.touch(),
    isOtherFor: ({ chain }, next) => isOther(apiOptionsOf(settings), apiOptionsOf(next), chain),
    adopt(next, ledger) {
      settings = next;
      api = createApi(apiOptionsOf(next), dependencies);
      rateLimiter.adopt(budgetOptionsOf(next.config), ledger);
    },
    async close() {
      await connections.close().finally(() => writer.flush());
    },
  };
}

/** The route of the first request of a poll, as the client chooses it. */
export function routesOf(config: Config): (source: Pick<Source, 'endpoint' | 'chain'>) => string {
  const options = apiOptionsOf({ config, key: '' });
  const routes = new WeakMap<Pick<Source, 'endpoint' | 'chain'>, string>();
  return (source) => {
    const route = routes.get(source) ?? routeOf(options, source);
    routes.set(source, route);
    return route;
  };
}

function apiOptionsOf({ config, key }: Settings): ApiOptions {
  return {
    baseUrl: config.api.baseUrl,
    v1BaseUrls: Object.fromEntries(config.chains.map(({ name, v1BaseUrl }) => [name, v1BaseUrl])),
    key,
    userAgent: `beaconchain-exporter/${VERSION}`,
  };
}

function isOther(now: ApiOptions, next: ApiOptions, chain: Source['chain']): boolean {
  const isOtherV1 = chain !== undefined && now.v1BaseUrls[chain] !== next.v1BaseUrls[chain];
  return now.key !== next.key || now.baseUrl !== next.baseUrl || isOtherV1;
}

/** Sends nothing without the lease. Checked after the wait for the permit, during which the process may have slept. */
export function leased(budget: Budget, replica: Pick<Replica, 'leads'>): Budget {
  return {
    async acquire(request, signal) {
      const permit = await budget.acquire(request, signal);
      if (replica.leads()) return permit;
      permit.release(undefined);
      throw new LeaseLost();
    },
  };
}

/** A request in progress keeps the timeout with which it began. Unused connections close by themselves. */
function connectionsOf(
  settings: () => Settings,
  proxies: Proxies | undefined,
  createTransport: CreateTransport,
): ReturnType<CreateTransport> {
  const byLimit = new Map<number, ReturnType<CreateTransport>>();
  return {
    send(wire, signal) {
      const { timeoutMs } = settings().config.api;
      const transport = byLimit.get(timeoutMs) ?? createTransport({ timeoutMs, proxies });
      byLimit.set(timeoutMs, transport);
      return transport.send(wire, signal);
    },
    async close() {
      await Promise.all([...byLimit.values()].map((transport) => transport.close()));
    },
  };
}
