import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * A free port on loopback, for a program that cannot say which port it chose. It is below the range of ports for
 * outgoing connections (ip(7)), so no connection takes it before the program listens, and above 10080, which `fetch` refuses.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(10_081, 30_000);
  return (await isFree(port)) ? port : freePort();
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
