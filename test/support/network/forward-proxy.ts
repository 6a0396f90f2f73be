import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { atTheEnd } from '../vitest/cleanup.ts';
import { listen } from './listen.ts';

export type ForwardProxy = Awaited<ReturnType<typeof startForwardProxy>>;

/** Answers with this status. `silence`: no answer. `break`: closes the connection. undefined: forwards. */
type Behaviour = number | 'silence' | 'break' | undefined;

/**
 * An HTTP/1.1 forward proxy on loopback: CONNECT for https, requests in absolute form for http.
 * @param credentials `user:password`. Without it the proxy asks for no credentials.
 */
export async function startForwardProxy(credentials?: string) {
  const expected = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
  /** The targets of all tunnels and of all forwarded requests, in order. */
  const tunnels: string[] = [];
  const forwards: string[] = [];
  const heard: Buffer[] = [];
  const sockets = new Set<Socket>();
  let how: Behaviour;

  /** The status of a refusal. undefined: the request is accepted. */
  function refusalOf(incoming: IncomingMessage): Behaviour {
    const { 'proxy-authorization': given, ...visible } = incoming.headers;
    heard.push(Buffer.from(`${incoming.method} ${incoming.url} ${JSON.stringify(visible)}\n`));
    return how ?? (expected !== undefined && given !== expected ? 407 : undefined);
  }

  function forward(incoming: IncomingMessage, response: ServerResponse): void {
    forwards.push(incoming.url ?? '');
    const refusal = refusalOf(incoming);
    if (refusal === 'silence') return;
    if (refusal === 'break') return void incoming.socket.destroy();
    if (refusal !== undefined) return void response.writeHead(refusal, { 'proxy-authenticate': 'Basic' }).end('no\n');
    const { 'proxy-authorization': _, ...headers } = incoming.headers;
    const outgoing = request(incoming.url ?? '', { method: incoming.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, response).catch(() => response.destroy());
    });
    outgoing.on('error', () => response.writeHead(502).end());
    incoming.on('data', (bytes: Buffer) => heard.push(bytes));
    pipeline(incoming, outgoing).catch(() => outgoing.destroy());
  }

  function tunnel(incoming: IncomingMessage, client: Socket): void {
    tunnels.push(incoming.url ?? '');
    client.on('error', () => client.destroy());
    const refusal = refusalOf(incoming);
    if (refusal === 'silence') return;
    if (refusal === 'break') return void client.destroy();
    if (refusal !== undefined) return void client.end(`HTTP/1.1 ${refusal} No\r\ncontent-length: 3\r\n\r\nno\n`);
    const { hostname, port } = new URL(`http://${incoming.url}`);
    const upstream = connect(Number(port || 443), hostname, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.on('data', (bytes) => heard.push(bytes));
      client.pipe(upstream).pipe(client);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
    }
  }

  const server = createServer(forward);
  server.on('connect', tunnel);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  /** Stops listening. */
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const port = await listen(server);
  atTheEnd(close);
  return {
    port,
    /** The URL without credentials. */
    url: `http://127.0.0.1:${port}`,
    tunnels,
    forwards,
    /** All bytes from clients. */
    heard: () => Buffer.concat(heard).toString('latin1'),
    behave: (next: Behaviour): void => {
      how = next;
      for (const socket of sockets) socket.destroy();
    },
    close,
  };
}
