import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { atTheEnd } from '../vitest/cleanup.ts';

/** Listens on a free port of loopback until the tests of the file have ended. Returns the port. */
export async function listen(server: Server & Partial<Pick<HttpServer, 'closeAllConnections'>>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atTheEnd(() => {
    server.close();
    server.closeAllConnections?.();
  });
  return (server.address() as AddressInfo).port;
}
