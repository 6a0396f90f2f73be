import dns, { type LookupAddress } from 'node:dns';
import { connect, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { Milliseconds } from '../toolkit/lib/time.ts';

export type Lookup = (name: string, options: dns.LookupAllOptions) => Promise<LookupAddress[]>;
type Connect = buildConnector.connector;

/** No connection comes about. The message is the step that failed, without URL or address. */
export class NotConnected extends Error {}

/** How long an address is tried alone, before the next one is tried beside it (RFC 8305, 5). */
const HEAD_START_MS = 250;

/**
 * Opens the connections of undici, and names the step that fails. `timeoutMs` limits each step, and nothing else does:
 * Node's own way gives up an address after 250 ms, which is too early for a slow link. A longer limit would delay each
 * connection of a host whose IPv6 leads nowhere.
 */
export function createConnector(timeoutMs: Milliseconds, lookup: Lookup = dns.promises.lookup) {
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

  async function open(peer: string, options: buildConnector.Options): Promise<Socket> {
    const { hostname, protocol } = options;
    const port = Number(options.port || (protocol === 'https:' ? 443 : 80));
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]);
    // As Node does it: no addresses of a family of which this host has none.
    const found = unlessAborted(lookup(hostname, { all: true, hints: dns.ADDRCONFIG }), signal);
    const addresses = await during(`DNS look-up of ${peer}`, found);
    const socket = await during(`connection to ${peer}`, unlessAborted(race(addresses, port, signal), signal));
    if (protocol !== 'https:') return socket;
    return during(`TLS with ${peer}`, promised(secure, { ...options, httpSocket: socket }));
  }

  return {
    /** The newest step in progress. */
    step: () => [...steps].at(-1)?.name,
    to: (peer: string): Connect => calledBack((options) => open(peer, options)),
    /** undici's own way through a proxy. */
    through: (tunnel: Connect): Connect =>
      calledBack((options) => during('tunnel or TLS through the proxy', promised(tunnel, options))),
    /** Ends the attempts in progress. */
    close: () => closing.abort(),
  };
}

/** Rejects with the reason of the signal as soon as it aborts. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** The first connection that is accepted. An address that fails or is slow starts the next one, and none is given up. */
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
