import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import Negotiator from 'negotiator';
import { CONTENT_TYPES, type Format } from '../exposition/encode.ts';
import type { ListenAddress } from '../yaml/fields.ts';
import type { Access } from './access.ts';
import { isFromPage } from './from-page.ts';
import { send, sendText } from './send.ts';

export type Page = (response: ServerResponse) => unknown;

/** The program as the server uses it. None of its methods wait for the network. */
export interface Pages {
  metrics(format: Format, gzipped: boolean): readonly Buffer[];
  /** Why the program is not healthy; undefined if it is. */
  unhealthy(): string | undefined;
  /** Why the program is not ready to be scraped; undefined if it is. */
  unready(): string | undefined;
  /** Why the new configuration was refused; undefined if it was applied. */
  reload(): Promise<string | undefined>;
  /** Pages for people, by path. */
  readonly pages: ReadonlyMap<string, Page>;
  /** Called when a page throws. The server responds with 500 and continues. */
  onError(error: unknown): void;
}

export interface ServerOptions extends ListenAddress {
  readonly telemetryPath: string;
  /** Whether a reload may be requested; default true. */
  readonly hasLifecycle?: boolean | undefined;
  /** Undefined: plain HTTP without authentication. The server closes it. */
  readonly access?: Access | undefined;
  readonly limits?: ServerLimits;
}

export interface RunningServer extends Pick<AddressInfo, 'address' | 'port'> {
  /** Closes at once: an interrupted scrape is repeated, but a shutdown that hangs is killed. */
  close(): Promise<void>;
}

/** The limits for clients, in milliseconds and bytes. Each is a setting of Node's own server. */
export const SERVER_LIMITS = {
  // Also applies to a silent connection, and to a TLS handshake. A scrape sends its headers in one packet.
  headersTimeout: 10_000,
  // No page takes a body; this ends a request whose body never ends.
  requestTimeout: 30_000,
  // Longer than the usual scrape interval, so that scrapes reuse a connection.
  keepAliveTimeout: 75_000,
  maxHeaderSize: 16 * 1024,
  // How often Node checks for timeouts.
  connectionsCheckingInterval: 2_500,
  // About 15 kB each. More than well-behaved clients need. The usual limit of 1,024 open files leaves 124 for files, the
  // program's own requests and Node itself.
  maxConnections: 900,
  // A client that reads nothing for so long keeps old bytes in memory.
  timeout: 60_000,
};

/** A server within the limits. With `access`, it serves only those whom the web config admits. */
export function createServer(listener: RequestListener, access?: Access, limits: ServerLimits = SERVER_LIMITS): Server {
  const { maxConnections, timeout, ...options } = limits;
  const server = access ? access.createServer(options, listener) : createHttpServer(options, listener);
  return Object.assign(server, { maxConnections, timeout });
}

type ServerLimits = Readonly<typeof SERVER_LIMITS>;

/** @throws Error with `code` EADDRINUSE when the address is taken. */
export async function startServer(options: ServerOptions, pages: Pages): Promise<RunningServer> {
  const { host, port, access, limits = SERVER_LIMITS } = options;
  const server = createServer(router(options, pages), access, limits);
  // Node's own list of connections lacks those that are still in their TLS handshake.
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen({ host, port });
  await once(server, 'listening');
  const { address, port: taken } = server.address() as AddressInfo;
  return {
    address,
    port: taken,
    close: async () => {
      const closed = server[Symbol.asyncDispose]();
      for (const socket of sockets) socket.destroy();
      await closed;
      await access?.close();
    },
  };
}

type PageHandler = (request: IncomingMessage, response: ServerResponse) => unknown;

const RELOAD = '/-/reload';

function router({ telemetryPath, hasLifecycle = true }: ServerOptions, pages: Pages): RequestListener {
  const routes = new Map<string, PageHandler>([
    ...[...pages.pages].map(([path, page]): [string, PageHandler] => [path, (_, response) => page(response)]),
    ['/-/healthy', (_, response) => sendOutcome(response, 'healthy', 503, pages.unhealthy())],
    ['/-/ready', (_, response) => sendOutcome(response, 'ready', 503, pages.unready())],
    [RELOAD, (request, response) => sendReload(request, response, hasLifecycle, pages)],
    [telemetryPath, (request, response) => sendMetrics(request, response, pages)],
  ]);
  return async (request, response) => {
    if (!response.hasHeader('X-Content-Type-Options')) response.setHeader('X-Content-Type-Options', 'nosniff');
    const path = pathOf(request.url);
    const page = routes.get(path);
    if (!page) return sendText(response, 404, 'not found\n');
    const methods = path === RELOAD ? ['POST'] : ['GET', 'HEAD'];
    if (!methods.includes(request.method ?? '')) {
      response.setHeader('Allow', methods.join(', '));
      return sendText(response, 405, 'method not allowed\n');
    }
    try {
      await page(request, response);
    } catch (error) {
      // An uncaught error would end the process.
      pages.onError(error);
      if (!response.headersSent) sendText(response, 500, 'internal error\n');
    }
  };
}

/** The path of a request target, which a proxy may send in absolute form (RFC 9112, 3.2.2). */
function pathOf(target = '/'): string {
  return target.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1)[0] || '/';
}

function sendOutcome(response: ServerResponse, is: string, statusIfNot: number, whyNot: string | undefined): void {
  if (whyNot === undefined) sendText(response, 200, `${is}\n`);
  else sendText(response, statusIfNot, `not ${is}: ${whyNot}\n`);
}

async function sendReload(
  { headers }: IncomingMessage,
  response: ServerResponse,
  hasLifecycle: boolean,
  pages: Pages,
): Promise<void> {
  // The wording is that of Prometheus.
  if (!hasLifecycle) return sendText(response, 403, 'Lifecycle API is not enabled.\n');
  if (isFromPage(headers)) return sendText(response, 403, 'not reloaded: the request comes from a page in a browser\n');
  sendOutcome(response, 'reloaded', 500, await pages.reload());
}

function sendMetrics(request: IncomingMessage, response: ServerResponse, pages: Pages): void {
  const format = preferredFormat(request.headers.accept);
  // Without the header the response is not compressed, although the standard would allow it.
  const gzipped = new Negotiator(request).encoding(['gzip', 'identity']) === 'gzip';
  const body = pages.metrics(format, gzipped);
  if (gzipped) response.setHeader('Content-Encoding', 'gzip');
  response.setHeader('Vary', 'Accept, Accept-Encoding');
  send(response, 200, CONTENT_TYPES[format], body);
}

/**
 * The format that Accept prefers by its q-values; the text format if it prefers none. The `escaping` parameter of
 * Prometheus 3 has no effect, because all our names are valid without escaping.
 */
export function preferredFormat(accept: string | undefined): Format {
  const header = accept?.replace(/;\s*escaping=[\w-]+/g, '');
  const negotiator = new Negotiator({ headers: { accept: header } });
  const best = negotiator.mediaType([CONTENT_TYPES.text, CONTENT_TYPES.openmetrics, 'text/plain; version=0.0.4']);
  return best === CONTENT_TYPES.openmetrics ? 'openmetrics' : 'text';
}
