import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Clock } from '../toolkit/lib/clock.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { isFromPage } from '../toolkit/web/from-page.ts';
import { answer, type SandboxAnswer, type SandboxRequest, textAnswer } from './answer.ts';
import { control } from './control.ts';
import { Sandbox, type SandboxOptions } from './world.ts';

export interface SandboxServerOptions extends SandboxOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly clock: Pick<Clock, 'now'>;
  /** Asked first. Undefined: the request is for the service, or an order. */
  readonly receive?: ((request: SandboxRequest, now: UnixMs) => SandboxAnswer | undefined) | undefined;
  readonly createServer?: (listener: RequestListener) => Server;
}

export interface RunningSandbox {
  /** The URL of the mainnet host, without a trailing slash; `${url}/hoodi` is that of hoodi. */
  readonly url: string;
  readonly sandbox: Sandbox;
  close(): Promise<void>;
}

/** Otherwise any page that a browser on this machine shows could give orders and print alerts. */
const FROM_A_PAGE = textAnswer(403, 'refused: the request comes from a page in a browser');

/** Serves a sandbox over HTTP. @throws the listen error, e.g. EADDRINUSE. */
export async function startSandbox(options: SandboxServerOptions): Promise<RunningSandbox> {
  const { host, port, clock, receive, createServer: create = createServer, ...world } = options;
  const sandbox = new Sandbox(world);
  const answerTo = async (request: IncomingMessage): Promise<SandboxAnswer> => {
    const { method = 'GET', url: path = '/', headers } = request;
    const asked = { method, path, headers, body: await text(request) };
    const now = clock.now();
    if (isFromPage(headers)) return FROM_A_PAGE;
    return receive?.(asked, now) ?? control(sandbox, asked, now) ?? answer(sandbox, asked, now);
  };
  const server = create(async (request, response) => {
    try {
      const { status, headers, body } = await answerTo(request);
      response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
    } catch {
      // A caller that hangs up gets no answer.
      response.destroy();
    }
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    url: urlOf(server),
    sandbox,
    close: () => {
      server.closeAllConnections();
      return server[Symbol.asyncDispose]();
    },
  };
}

function urlOf(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  // A client cannot connect to a wildcard address.
  const host = { '::': '::1', '0.0.0.0': '127.0.0.1' }[address] ?? address;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
