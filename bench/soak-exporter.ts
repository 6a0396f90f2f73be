/**
 * The exporter in a process of its own, for which time goes faster. Sends now and then what it takes; started with
 * --expose-gc, so that the heap is what is held.
 */
import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { configOf } from '../src/config/config.ts';
import { ConfigFile } from '../src/config/schema.ts';
import { startEngine } from '../src/exporter/engine.ts';
import { openState } from '../src/exporter/state.ts';
import { createLogger } from '../src/lib/log.ts';
import { ProcessMetrics } from '../src/metrics/self.ts';
import { startServer } from '../src/web/server.ts';
import { hastyClock } from '../test/support/haste.ts';

export interface SoakOptions {
  readonly speed: number;
  readonly start: number;
  readonly url: string;
  readonly key: string;
  readonly dir: string;
  /** How often to tell, ms of this clock. */
  readonly everyMs: number;
}

export interface Taken {
  readonly port: number;
  readonly rssMiB: number;
  readonly heapMiB: number;
  readonly handles: number;
  readonly files: number;
  /** 99th percentile and longest since the last time. */
  readonly delayMs: number;
  readonly longestDelayMs: number;
}

const { speed, start, url, key, dir, everyMs } = JSON.parse(process.argv[2] ?? '') as SoakOptions;
const clock = hastyClock(speed, start);
const file = ConfigFile.parse({
  api: { base_url: url, timeout: `${Math.ceil(10_000 / speed)}ms` },
  chains: { mainnet: { v1_base_url: url }, hoodi: { v1_base_url: `${url}/hoodi` } },
  machines: { chain: 'mainnet' },
});
const config = configOf(file);
const log = createLogger({ level: 'debug', format: 'json' });
const engine = await startEngine({
  config,
  key,
  clock,
  log,
  documents: await openState(dir, clock, log),
  processMetrics: new ProcessMetrics(true),
  startedAt: start,
  lastReload: () => ({ isSuccessful: true, successAt: start }),
});
const server = await startServer(
  { host: '127.0.0.1', port: 0, telemetryPath: '/metrics' },
  {
    ...engine,
    reload: async () => undefined,
    onError: (error) => log.error({ err: String(error) }, 'page not rendered'),
  },
);
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

function taken(): Taken {
  const [delayMs, longestDelayMs] = [delay.percentile(99) / 1e6, delay.max / 1e6];
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  // The pause of the collection above is ours, not the program's.
  setTimeout(() => delay.reset(), 10);
  return {
    port: server.port,
    rssMiB: rss / 2 ** 20,
    heapMiB: heapUsed / 2 ** 20,
    handles: process.getActiveResourcesInfo().length,
    files: readdirSync('/proc/self/fd').length,
    delayMs,
    longestDelayMs,
  };
}

process.send?.(taken());
setInterval(() => process.send?.(taken()), everyMs / speed);
