/**
 * Serves the same series from prom-client, in a process of its own because its garbage would slow down the others. Started
 * with the number of machines; tells its port.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { CONTENT_TYPES } from '../src/metrics/encode.ts';
import { registryOf } from './registry.ts';
import { partsAt } from './values.ts';

const compress = promisify(gzip);
const registry = await registryOf(partsAt(Number(process.argv[2]), Date.now()));

const server = createServer(async (request, response) => {
  const headers = { 'Content-Type': CONTENT_TYPES.text };
  const text = await registry.metrics();
  if (request.headers['accept-encoding'] === undefined) response.writeHead(200, headers).end(text);
  else response.writeHead(200, { ...headers, 'Content-Encoding': 'gzip' }).end(await compress(text));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
process.send?.((server.address() as AddressInfo).port);
