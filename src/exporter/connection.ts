import { type Api, type ApiDependencies, type ApiOptions, createApi, routeOf } from '../api/client.ts';
import { createTransport, type Proxies } from '../api/transport.ts';
import type { Config } from '../config/config.ts';
import { VERSION } from '../lib/version.ts';
import type { Source } from '../sources/source.ts';

interface Asked {
  readonly config: Config;
  readonly key: string;
}

/** The service, where and as whom it is asked now. */
export class Connection {
  /** Asks as configured at that moment, also in the middle of a poll. */
  readonly api: Api = {
    request: (request, envelope, signal) => this.#api.request(request, envelope, signal),
    records: (endpoint, record, items) => this.#api.records(endpoint, record, items),
  };
  readonly #dependencies: ApiDependencies;
  /** By their time limit. */
  readonly #transports = new Map<number, ReturnType<typeof createTransport>>();
  #options: ApiOptions;
  #timeoutMs: number;
  #api: Api;

  readonly #proxies: Proxies | undefined;

  constructor({ config, key }: Asked, proxies: Proxies | undefined, dependencies: Omit<ApiDependencies, 'transport'>) {
    this.#proxies = proxies;
    this.#dependencies = { ...dependencies, transport: (wire, signal) => this.#transport().send(wire, signal) };
    this.#options = apiOptionsOf(config, key);
    this.#timeoutMs = config.api.timeoutMs;
    this.#api = createApi(this.#options, this.#dependencies);
  }

  /** The route of what a source asks first. */
  routeOf(source: Source): string {
    return routeOf(this.#options, source);
  }

  /** Whether a source would ask another host, or as somebody else. */
  isOtherFor({ chain }: Source, { config, key }: Asked): boolean {
    const now = this.#options;
    const next = apiOptionsOf(config, key);
    const isOtherV1 = chain !== undefined && now.v1BaseUrls[chain] !== next.v1BaseUrls[chain];
    return now.key !== next.key || now.baseUrl !== next.baseUrl || isOtherV1;
  }

  adopt({ config, key }: Asked): void {
    this.#options = apiOptionsOf(config, key);
    this.#timeoutMs = config.api.timeoutMs;
    this.#api = createApi(this.#options, this.#dependencies);
  }

  /** Drops the connections. */
  async close(): Promise<void> {
    await Promise.all([...this.#transports.values()].map((transport) => transport.close()));
  }

  /** What is under way keeps the limit with which it began, and connections that are not used end by themselves. */
  #transport(): ReturnType<typeof createTransport> {
    const timeoutMs = this.#timeoutMs;
    const transport = this.#transports.get(timeoutMs) ?? createTransport({ timeoutMs, proxies: this.#proxies });
    this.#transports.set(timeoutMs, transport);
    return transport;
  }
}

/** Where and as whom the API is asked. */
export function apiOptionsOf(config: Config, key: string): ApiOptions {
  return {
    baseUrl: config.api.baseUrl,
    v1BaseUrls: Object.fromEntries(config.chains.map(({ name, v1BaseUrl }) => [name, v1BaseUrl])),
    key,
    userAgent: `beaconchain-exporter/${VERSION}`,
  };
}
