import type { Socket } from 'node:net';
import { type Dispatcher, EnvHttpProxyAgent, Pool, errors as undici } from 'undici';
import { codeOf } from '../lib/error-code.ts';
import type { Proxies } from '../lib/proxies.ts';
import type { Milliseconds } from '../lib/time.ts';

/**
 * The proxy did not provide a connection. The message contains neither its URL nor its response, because both can
 * contain the password.
 */
export class ProxyFailed extends Error {
  override readonly name = 'ProxyFailed';
}

/** Requests to http URLs share the connections to their proxy. */
const FORWARDS = 'forwards';

/** Chooses the connection pool of a request: directly to its origin, or through a proxy. */
export class Egress {
  readonly #timeoutMs: Milliseconds;
  /**
   * Used without a proxy. An undici agent drops a pool with its last connection; a new pool holds all requests back
   * until its first handshake ends, which may hang.
   */
  readonly #pools = new Map<string, Pool>();
  readonly #agent: EnvHttpProxyAgent | undefined;
  /** The pending connections through a proxy. `what`: the host of the tunnel, or `FORWARDS`. */
  readonly #awaited = new Set<{ readonly what: string }>();

  constructor(proxies: Proxies | undefined, timeoutMs: Milliseconds) {
    this.#timeoutMs = timeoutMs;
    this.#agent = proxies && this.#agentOf(proxies);
  }

  /** The dispatcher for requests to an origin. */
  dispatcherOf(origin: string): Dispatcher {
    if (this.#agent) return this.#agent;
    const pool = this.#pools.get(origin) ?? new Pool(origin, { connect: { timeout: this.#timeoutMs } });
    this.#pools.set(origin, pool);
    return pool;
  }

  /** Whether a request to this URL may be waiting for a connection through a proxy. */
  isAwaited({ protocol, host, port }: URL): boolean {
    const tunnel = port === '' ? `${host}:443` : host;
    const wanted = protocol === 'http:' ? FORWARDS : tunnel;
    return [...this.#awaited].some(({ what }) => what === wanted);
  }

  /** Drops all connections. */
  async close(): Promise<void> {
    await Promise.all([...this.#pools.values(), ...(this.#agent ? [this.#agent] : [])].map((one) => one.destroy()));
  }

  #agentOf({ http, https, except }: Proxies): EnvHttpProxyAgent {
    const timeout = this.#timeoutMs;
    return new EnvHttpProxyAgent({
      httpProxy: http,
      httpsProxy: https,
      noProxy: except,
      connect: { timeout },
      // The same limit for a connection to a proxy.
      connectTimeout: timeout,
      clientFactory: (proxy, options) => this.#tunnelling(new Pool(proxy, options)),
      factory: (origin, options) =>
        [http, https].includes(String(origin)) ? this.#forwarding(origin, options) : new Pool(origin, options),
    });
  }

  /** A pool that notes which tunnels undici's agent is opening through a proxy. */
  #tunnelling(proxy: Pool): Pool {
    const { connect } = proxy;
    const open = async (options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> => {
      // The attempt ends with its request; otherwise the next request would wait for the same attempt.
      const signal = AbortSignal.timeout(this.#timeoutMs);
      const asked: Promise<Dispatcher.ConnectData> = Reflect.apply(connect, proxy, [{ ...options, signal }]);
      const answer = await this.#awaiting(options.path, asked);
      if (answer.statusCode === 200) return answer;
      answer.socket.on('error', () => undefined).destroy();
      throw new ProxyFailed(`the proxy responded with status ${answer.statusCode}`);
    };
    return Object.assign(proxy, { connect: open });
  }

  /** A pool that notes the connections to a proxy for unencrypted requests. */
  #forwarding(proxy: string | URL, { connect, ...options }: Pool.Options): Pool {
    if (typeof connect !== 'function') throw new TypeError('expected a connector to the proxy');
    return new Pool(proxy, {
      ...options,
      connect: (target, callback) => {
        const { promise, resolve, reject } = Promise.withResolvers<Socket>();
        connect(target, (error, socket) => (error ? reject(error) : resolve(socket)));
        this.#awaiting(FORWARDS, promise).then(
          (socket) => callback(null, socket),
          (error: Error) => callback(error, null),
        );
      },
    });
  }

  async #awaiting<T>(what: string, connection: Promise<T>): Promise<T> {
    const pending = { what };
    this.#awaited.add(pending);
    try {
      return await connection;
    } catch (error) {
      throw new ProxyFailed(`the proxy: ${connectionFailure(error)}`);
    } finally {
      this.#awaited.delete(pending);
    }
  }
}

/** Whether this is undici's error for a 407 to an unencrypted request. */
export function isProxyPassword(error: unknown): boolean {
  return error instanceof undici.InvalidArgumentError && error.message.endsWith('(407)');
}

/** The code alone (ECONNREFUSED, UND_ERR_SOCKET), because undici's messages can quote the request. */
export function connectionFailure(error: unknown): string {
  return codeOf(error) ?? 'connection failed';
}
