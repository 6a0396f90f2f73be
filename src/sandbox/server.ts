import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Clock } from '../lib/clock.ts';
import { answer } from './answer.ts';
import { control } from './control.ts';
import { Sandbox, type SandboxOptions } from './world.ts';

export interface SandboxServerOptions extends Omit<SandboxOptions, 'start'> {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly clock: Pick<Clock, 'now'>;
  /** Creates the server, instead of a plain one. */
  readonly createServer?: (listener: RequestListener) => Server;
}

export interface RunningSandbox {
  /** The URL of the mainnet host, without a trailing slash; `${url}/hoodi` is that of hoodi. */
  readonly url: string;
  readonly sandbox: Sandbox;
  /** Drops all connections and frees the port. */
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 1024 * 1024;

/** Serves a sandbox over HTTP. @throws the listen error, e.g. EADDRINUSE. */
export async function startSandbox(options: SandboxServerOptions): Promise<RunningSandbox> {
  const { host, port, clock, createServer: create = createServer, ...world } = options;
  const sandbox = new Sandbox({ ...world, start: clock.now() });
  const server = create((request, response) => {
    // A caller that hangs up or sends an endless body gets no answer.
    respond(sandbox, clock, request, response).catch(() => response.destroy());
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    url: urlOf(server),
    sandbox,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function respond(
  sandbox: Sandbox,
  clock: Pick<Clock, 'now'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request);
  const { method = 'GET', url = '/', headers } = request;
  const now = clock.now();
  const asked = { method, path: url, headers, body };
  const result = control(sandbox, asked, now) ?? answer(sandbox, asked, now);
  response.writeHead(result.status, { ...result.headers, 'content-length': Buffer.byteLength(result.body) });
  response.end(result.body);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new RangeError('request body too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function urlOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('not a TCP address');
  // A client cannot connect to a wildcard address.
  const host = { '::': '::1', '0.0.0.0': '127.0.0.1' }[address.address] ?? address.address;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${address.port}`;
}
