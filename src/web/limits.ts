import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Milliseconds } from '../lib/time.ts';
import type { Access } from '../web-config/access.ts';
import { Connections } from './connections.ts';

/** What a server puts up with. Times in milliseconds. */
export interface ServerLimits {
  readonly headersTimeout: Milliseconds;
  readonly requestTimeout: Milliseconds;
  readonly keepAliveTimeout: Milliseconds;
  readonly maxHeaderSize: number;
  /** How often Node looks for what is over its time. */
  readonly connectionsCheckingInterval: Milliseconds;
  readonly maxConnections: number;
  /** From the request to the last byte that the client has taken. */
  readonly answerTimeout: Milliseconds;
}

export const LIMITS: ServerLimits = {
  // Also for a connection that says nothing at all. A scrape sends its headers in one packet.
  headersTimeout: 10_000,
  // No page takes a body; this ends those who send one without end.
  requestTimeout: 30_000,
  // Longer than the usual scrape interval, so that each scrape need not shake hands anew.
  keepAliveTimeout: 75_000,
  maxHeaderSize: 16 * 1024,
  connectionsCheckingInterval: 2_500,
  // Some 15 kB each, more than any number of honest clients, below the usual limit of 1,024 open files.
  maxConnections: 1_000,
  // Prometheus gives up after 10 s. Whoever reads on for longer holds old bytes in memory.
  answerTimeout: 60_000,
};

/** A server that no client can fill, by being slow, many or idle. */
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
