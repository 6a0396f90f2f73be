import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * A port on loopback where nobody listens, for a program that cannot say which one it took. Below those that the system
 * hands out by itself (ip(7)): such a one could be the port of some connection before the program begins to listen.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(10_000, 30_000);
  return (await isFree(port)) ? port : freePort();
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
