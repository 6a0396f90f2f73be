import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Access } from '../web-config/access.ts';
import { Connections } from './connections.ts';

/** What a server allows its clients, in milliseconds and bytes. */
export const LIMITS = {
  // Also applies to a silent connection. A scrape sends its headers in one packet.
  headersTimeout: 10_000,
  // No page takes a body; this ends a request whose body never ends.
  requestTimeout: 30_000,
  // Longer than the usual scrape interval, so that scrapes reuse a connection.
  keepAliveTimeout: 75_000,
  maxHeaderSize: 16 * 1024,
  // How often Node checks for timeouts.
  connectionsCheckingInterval: 2_500,
  // About 15 kB each. More than honest clients need, and below the usual limit of 1,024 open files.
  maxConnections: 1_000,
  // From the request until the client has taken the last byte. Prometheus gives up after 10 s. A client that takes
  // longer keeps old bytes in memory.
  answerTimeout: 60_000,
};

export type ServerLimits = Readonly<typeof LIMITS>;

/** A server that cannot be exhausted by slow, numerous or idle clients. */
export function createBoundedServer(
  listener: RequestListener,
  limits: ServerLimits,
  access: Access | undefined,
): Server {
  const { maxConnections, answerTimeout, ...rest } = limits;
  const connections = new Connections(maxConnections);
  const admitted: RequestListener = (request, response) => {
    connections.answering(request.socket, response);
    listener(request, response);
  };
  const server = access ? access.createServer(rest, admitted) : createServer(rest, admitted);
  server.prependListener('connection', (socket: Socket) => connections.take(socket));
  server.prependListener('request', (_, response) => {
    const timer = setTimeout(() => response.destroy(), answerTimeout).unref();
    response.once('close', () => clearTimeout(timer));
  });
  return server;
}
