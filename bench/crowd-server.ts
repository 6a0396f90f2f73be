/** Serves the series of 1,000 machines, behind a web config file if one is named; tells its port. */

import { limitMemory } from '../src/commands/memory.ts';
import { systemClock } from '../src/lib/clock.ts';
import { jsonLogger } from '../src/lib/log.ts';
import { Exposition } from '../src/metrics/exposition.ts';
import { Access } from '../src/web/access.ts';
import { startServer } from '../src/web/server.ts';
import { readWebConfig } from '../src/web/web-config.ts';
import { partsAt } from './values.ts';

limitMemory();
const fail = (error: unknown): never => {
  throw error;
};
const [file] = process.argv.slice(2);
const access = file && new Access(await readWebConfig(file), systemClock, jsonLogger('error'));
const exposition = new Exposition(partsAt(1_000, Date.now()), systemClock, fail);
await exposition.refresh();
const server = await startServer(
  { host: '127.0.0.1', port: 0, telemetryPath: '/metrics', ...(access ? { access } : {}) },
  {
    metrics: (format, zipped) => exposition.chunks(format, zipped),
    unhealthy: () => undefined,
    ready: () => true,
    status: () => Promise.resolve(Buffer.alloc(0)),
    reload: () => Promise.resolve(undefined),
    onError: fail,
  },
);
process.send?.(server.port);
