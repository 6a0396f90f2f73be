import dns, { type LookupAddress } from 'node:dns';
import { connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { buildConnector, EnvHttpProxyAgent, Pool, errors as undici } from 'undici';
import type { Headers } from '../budget/headers.ts';
import { codeOf } from '../toolkit/lib/error-code.ts';
import type { Milliseconds } from '../toolkit/lib/time.ts';
import type { Endpoint } from './endpoints.ts';
import { RequestFailed } from './errors.ts';

export interface WireRequest {
  readonly endpoint: Endpoint;
  /** Scheme, host and an optional path prefix, without a slash at the end. */
  readonly base: string;
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The head of a response. Read the body only on demand: most failures show without it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /**
   * The decompressed body in chunks, which can be read once. A caller that stops reading drops the connection.
   * @throws RequestFailed when the body breaks off, takes too long or is not gzip as announced.
   */
  body(): AsyncIterable<Uint8Array>;
  discard(): void;
}

/** @throws RequestFailed with reason `network` or `timeout`; the signal's reason when it aborts. */
export type Transport = (request: WireRequest, signal: AbortSignal) => Promise<Answer>;

/** The URLs of the forward proxies for http and https, with credentials; '' means none. */
export interface Proxies {
  readonly http: string;
  readonly https: string;
  /** Hosts to connect to directly, in the syntax of NO_PROXY. */
  readonly except: string;
}

export type Lookup = (name: string, options: dns.LookupAllOptions) => Promise<LookupAddress[]>;

export interface TransportOptions {
  /** Limit on the whole exchange. */
  readonly timeoutMs: Milliseconds;
  /** Default: none; the transport does not read the environment. */
  readonly proxies?: Proxies | undefined;
  /** Default: the look-up of the system. */
  readonly lookup?: Lookup;
}

/**
 * How long to keep an unused connection, unless the server says less. Longer than the default interval of sweeps with jitter, 66 s, so
 * that a poll finds it open. Shorter than nginx's 75 s: nginx could close the connection while we send a request.
 */
const IDLE_MS = 70_000;

export type CreateTransport = (options: TransportOptions) => { send: Transport; close(): Promise<void> };

/** HTTP over undici: keep-alive, no redirects followed, proxies. Call `close` to drop the connections. */
export function createTransport(options: TransportOptions): ReturnType<CreateTransport> {
  const { timeoutMs, proxies = { http: '', https: '', except: '' }, lookup = dns.promises.lookup } = options;
  const connector = createConnector(timeoutMs, lookup);
  const direct = connector.to('the service');
  const brokenByProxy = new WeakSet<object>();
  const toProxy = (proxy: string | URL, rest: object): Pool =>
    new Pool(proxy, { ...rest, connect: connector.to('the proxy') }).on('disconnect', (_origin, _targets, error) =>
      brokenByProxy.add(error),
    );
  const proxyUrls = [proxies.http, proxies.https].map((url) => url && new URL(url).href);
  const agent = new EnvHttpProxyAgent({
    httpProxy: proxies.http,
    httpsProxy: proxies.https,
    noProxy: proxies.except,
    connectTimeout: timeoutMs,
    keepAliveTimeout: IDLE_MS,
    connect: direct,
    clientFactory: toProxy,
    factory: (origin, rest: Pool.Options) => {
      if (proxyUrls.includes(String(origin))) return toProxy(origin, rest);
      const { connect } = rest;
      const isTunnel = connect !== direct && typeof connect === 'function';
      return new Pool(origin, isTunnel ? { ...rest, connect: connector.through(connect) } : rest);
    },
    // If HTTP/2 is possible, all requests to a host wait for its first handshake, which may hang.
    allowH2: false,
  });

  async function send(request: WireRequest, stop: AbortSignal): Promise<Answer> {
    stop.throwIfAborted();
    const { endpoint, base, path, method, headers, body } = request;
    const url = new URL(base + path);
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([stop, timeout]);
    const failed = (error: unknown): unknown => (stop.aborted ? stop.reason : failureOf(endpoint, timeout, error));
    try {
      const answered = agent.request({
        origin: url.origin,
        path: url.pathname,
        method,
        // Without this header a server may choose any coding (RFC 9110, 12.5.3).
        headers: { 'accept-encoding': 'gzip', ...headers },
        signal,
        // The signal limits the whole exchange; undici's own limits are per phase.
        headersTimeout: 0,
        bodyTimeout: 0,
        ...(body === undefined ? {} : { body }),
      });
      // undici reacts to the signal only after it has a connection, which would delay a shutdown.
      const response = await unlessAborted(answered, signal);
      // Codings are case-insensitive, and x-gzip is gzip (RFC 9110, 8.4.1).
      const isGzip = /^(x-)?gzip$/i.test(String(response.headers['content-encoding']));
      return {
        status: response.statusCode,
        headers: response.headers,
        async *body() {
          try {
            yield* isGzip ? unpacked(endpoint, response.body) : response.body;
          } catch (error) {
            throw failed(error);
          }
        },
        discard() {
          response.body.dump({ limit: 65_536, signal }).catch(() => undefined);
        },
      };
    } catch (error) {
      throw failed(error);
    }
  }

  function failureOf(endpoint: Endpoint, timeout: AbortSignal, error: unknown): Error {
    if (error instanceof RequestFailed) return error;
    const isConnecting = error instanceof NotConnected;
    const cause = (isConnecting ? error.cause : error) as Error;
    if (timeout.aborted || cause.name === 'TimeoutError' || cause instanceof undici.ConnectTimeoutError) {
      const step = isConnecting ? error.message : connector.step();
      const where = step === undefined ? '' : `; in progress: ${step}`;
      return new RequestFailed(endpoint, 'timeout', `no complete response within api.timeout${where}`);
    }
    // undici has no code of its own for a proxy that refuses. Other messages can quote URLs and passwords.
    const [, status] = /^Proxy .*?\((\d{3})\)/.exec(String(cause.message)) ?? [];
    if (status) return new RequestFailed(endpoint, 'network', `the proxy responded with status ${status}`);
    const peer = brokenByProxy.has(cause) ? 'the proxy' : 'the service';
    const step = isConnecting ? error.message : `connection to ${peer}`;
    return new RequestFailed(endpoint, 'network', `${step}: ${codeOf(cause) ?? 'failed'}`);
  }

  async function close(): Promise<void> {
    connector.close();
    await agent.destroy();
  }

  return { send, close };
}

async function* unpacked(endpoint: Endpoint, packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    // A failure of either stream ends the iteration with its error.
    yield* pipeline(packed, createGunzip(), () => undefined);
  } catch (error) {
    if (!codeOf(error)?.startsWith('Z_')) throw error;
    throw new RequestFailed(endpoint, 'invalid_body', 'content-encoding is gzip, but the body is not');
  }
}

type Connect = buildConnector.connector;

/** No connection. The message is the failed step, without URL or address. */
class NotConnected extends Error {}

/** How long to try one address before trying the next one too (RFC 8305, 5). */
const HEAD_START_MS = 250;

/**
 * Opens the connections of undici, and names the step that fails. Only `timeoutMs` limits a step: Node itself gives up an address after
 * 250 ms, too early for a slow link, and a longer limit would delay each connection if IPv6 leads nowhere.
 */
function createConnector(timeoutMs: Milliseconds, lookup: Lookup) {
  const closing = new AbortController();
  const secure = buildConnector({ timeout: timeoutMs, allowH2: false });
  const steps = new Set<{ readonly name: string }>();

  async function during<T>(name: string, work: Promise<T>): Promise<T> {
    const step = { name };
    steps.add(step);
    try {
      return await work;
    } catch (cause) {
      throw cause instanceof NotConnected ? cause : new NotConnected(name, { cause });
    } finally {
      steps.delete(step);
    }
  }

  async function openSocket(peer: string, options: buildConnector.Options): Promise<Socket> {
    const { hostname, protocol } = options;
    const port = Number(options.port || (protocol === 'https:' ? 443 : 80));
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]);
    // Like Node: no addresses of a family that this host does not have.
    const found = unlessAborted(lookup(hostname, { all: true, hints: dns.ADDRCONFIG }), signal);
    const addresses = await during(`DNS look-up of ${peer}`, found);
    const socket = await during(`connection to ${peer}`, unlessAborted(race(addresses, port, signal), signal));
    if (protocol !== 'https:') return socket;
    return during(`TLS with ${peer}`, promised(secure, { ...options, httpSocket: socket }));
  }

  return {
    step: () => [...steps].at(-1)?.name,
    to: (peer: string): Connect => calledBack((options) => openSocket(peer, options)),
    /** undici's own way through a proxy. */
    through: (tunnel: Connect): Connect =>
      calledBack((options) => during('tunnel or TLS through the proxy', promised(tunnel, options))),
    /** Ends the attempts in progress. */
    close: () => closing.abort(),
  };
}

/** Rejects with the reason of the signal as soon as it aborts. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** The first accepted connection. A slow or failed address starts the next one; none is given up. */
function race(addresses: readonly LookupAddress[], port: number, signal: AbortSignal): Promise<Socket> {
  const rest = [...addresses];
  const open = new Set<Socket>();
  const end = (): void => {
    rest.length = 0;
    for (const socket of open) socket.destroy();
  };
  signal.addEventListener('abort', end, { once: true });
  return new Promise((resolve, reject) => {
    let failure: unknown;
    const next = (): void => {
      const host = rest.shift()?.address;
      if (host === undefined) return void (open.size === 0 && reject(failure));
      const socket = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 });
      open.add(socket);
      socket.setTimeout(HEAD_START_MS, next);
      socket.once('error', (error) => {
        failure ??= error;
        open.delete(socket);
        next();
      });
      socket.once('connect', () => {
        socket.setTimeout(0, next);
        open.delete(socket);
        end();
        resolve(socket);
      });
    };
    next();
  });
}

function promised(connector: Connect, options: buildConnector.Options): Promise<Socket> {
  return new Promise((resolve, reject) =>
    connector(options, (error, socket) => (socket ? resolve(socket) : reject(error))),
  );
}

function calledBack(open: (options: buildConnector.Options) => Promise<Socket>): Connect {
  return (options, callback) =>
    void open(options).then(
      (socket) => callback(null, socket),
      (error) => callback(error, null),
    );
}
