/**
 * Serves the same series in one of three ways: our exposition through our server, the same bytes from a buffer, or
 * prom-client. Each has a process of its own, because the garbage of one would slow down the others. The arguments are
 * the way and the number of machines. Sends its port to the parent.
 */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { limitMemory } from '../src/commands/memory.ts';
import { CONTENT_TYPES } from '../src/toolkit/exposition/encode.ts';
import { Exposition } from '../src/toolkit/exposition/exposition.ts';
import { systemClock } from '../src/toolkit/lib/clock.ts';
import { startServer } from '../src/toolkit/web/server.ts';
import { registryOf, sectionsAt } from './values.ts';

export type Way = 'ours' | 'buffer' | 'promClient';

export interface Serving {
  readonly port: number;
  readonly bytes: { readonly plain: number; readonly gzip: number };
}

async function serve(way: Way, machines: number): Promise<Serving> {
  const sections = sectionsAt(machines, Date.now());
  const fail = (error: unknown): never => {
    throw error;
  };
  if (way === 'promClient') {
    const registry = await registryOf(sections);
    const compress = promisify(gzip);
    return listen(async (isZipped) => (isZipped ? compress(await registry.metrics()) : registry.metrics()));
  }
  // As the program does.
  limitMemory();
  const exposition = new Exposition(sections, { takeSnapshot: () => undefined, clock: systemClock, onError: fail });
  await exposition.refresh();
  const plain = Buffer.concat(exposition.chunks('text', false));
  const gzipped = Buffer.concat(exposition.chunks('text', true));
  const bytes = { plain: plain.length, gzip: gzipped.length };
  if (way === 'buffer') return { ...(await listen(async (isZipped) => (isZipped ? gzipped : plain))), bytes };
  const { port } = await startServer(
    { host: '127.0.0.1', port: 0, telemetryPath: '/metrics' },
    {
      metrics: (format, zipped) => exposition.chunks(format, zipped),
      unhealthy: () => undefined,
      unready: () => undefined,
      pages: new Map(),
      reload: async () => undefined,
      onError: fail,
    },
  );
  return { port, bytes };
}

async function listen(body: (isZipped: boolean) => Promise<Buffer | string>): Promise<Serving> {
  const listener: RequestListener = async (request, response) => {
    const isZipped = request.headers['accept-encoding'] !== undefined;
    const found = await body(isZipped);
    const content = typeof found === 'string' ? Buffer.from(found) : found;
    const encoding = isZipped ? { 'Content-Encoding': 'gzip' } : {};
    response.writeHead(200, { 'Content-Type': CONTENT_TYPES.text, 'Content-Length': content.length, ...encoding });
    response.end(content);
  };
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, bytes: { plain: 0, gzip: 0 } };
}

if (import.meta.main) {
  const [way, machines] = process.argv.slice(2);
  process.send?.(await serve(way as Way, Number(machines)));
}
