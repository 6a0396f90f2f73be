/**
 * Serves the same series in two ways: our exposition through our server, and the same bytes from a buffer. Started with
 * the number of machines; tells its ports.
 */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { limitMemory } from '../src/commands/memory.ts';
import { systemClock } from '../src/lib/clock.ts';
import { CONTENT_TYPES } from '../src/metrics/encode.ts';
import { Exposition } from '../src/metrics/exposition.ts';
import { startServer } from '../src/web/server.ts';
import { partsAt } from './values.ts';

// As the program does.
limitMemory();
const parts = partsAt(Number(process.argv[2]), Date.now());
const fail = (error: unknown): never => {
  throw error;
};
const exposition = new Exposition(parts, systemClock, fail);
await exposition.refresh();

const plain = Buffer.concat(exposition.chunks('text', false));
const gzipped = Buffer.concat(exposition.chunks('text', true));
const type = CONTENT_TYPES.text;

const ours = await startServer(
  { host: '127.0.0.1', port: 0, telemetryPath: '/metrics' },
  {
    metrics: (format, zipped) => exposition.chunks(format, zipped),
    unhealthy: () => undefined,
    ready: () => true,
    status: async () => Buffer.alloc(0),
    reload: async () => undefined,
    onError: fail,
  },
);

const buffer = await listen((request, response) => {
  const zipped = request.headers['accept-encoding'] !== undefined;
  const body = zipped ? gzipped : plain;
  const encoding = zipped ? { 'Content-Encoding': 'gzip' } : {};
  response.writeHead(200, { 'Content-Type': type, 'Content-Length': body.length, ...encoding });
  response.end(body);
});

async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const series = (await Promise.all(parts.map((part) => part.families()))).flat();
process.send?.({
  ports: { ours: ours.port, buffer },
  bytes: { plain: plain.length, gzip: gzipped.length },
  series: series.reduce((sum, { samples }) => sum + samples.length, 0),
});
