/**
 * The exporter in a process of its own, for which time goes faster. Sends now and then what it takes, and at the end what
 * it leaves; started with --expose-gc, so that the heap is what is held.
 */
import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { loadConfig } from '../src/config/load.ts';
import { supervise } from '../src/exporter/reload.ts';
import type { Settings } from '../src/exporter/settings.ts';
import { systemClock } from '../src/lib/clock.ts';
import { jsonLogger } from '../src/lib/log.ts';
import { ProcessMetrics } from '../src/metrics/self.ts';
import { FileStore } from '../src/state/file.ts';
import { startServer } from '../src/web/server.ts';
import { Access } from '../src/web-config/access.ts';
import { hastyClock } from '../test/support/haste.ts';
import { type DiskFault, WeakDisk } from './soak/weak-disk.ts';

export interface SoakOptions {
  readonly speed: number;
  readonly start: number;
  readonly configFile: string;
  readonly webConfigFile: string;
  readonly dir: string;
  /** How often to tell, ms of this clock. */
  readonly everyMs: number;
}

/** What is open. */
export interface Left {
  /** What the event loop waits for, but for timers. */
  readonly handles: readonly string[];
  readonly files: number;
}

export interface Taken extends Left {
  readonly port: number;
  readonly rssMiB: number;
  readonly heapMiB: number;
  /** 99th percentile and longest since the last time. */
  readonly delayMs: number;
  readonly longestDelayMs: number;
}

/** What the parent asks for. */
export interface Order {
  readonly disk?: DiskFault | 'well';
  readonly isOver?: true;
}

const { speed, start, configFile, webConfigFile, dir, everyMs } = JSON.parse(process.argv[2] ?? '') as SoakOptions;
const clock = hastyClock(speed, start);
const disk = new WeakDisk();
let port = 0;
process.on('disconnect', () => process.exit());
process.on('message', async ({ disk: fault, isOver }: Order) => {
  if (fault !== undefined) disk.fault = fault === 'well' ? undefined : fault;
  if (isOver) await stop();
});
// Node opens them when they are first asked for.
void [process.stdout, process.stderr];
process.send?.({ handles: handles(), files: files() });
const delay = monitorEventLoopDelay({ resolution: 1 });

const read = async (): Promise<Settings> => {
  const { config, key = '' } = await loadConfig({ file: configFile, env: process.env });
  return { config, key };
};
const log = jsonLogger('info');
const access = await Access.open(webConfigFile, systemClock, log);
const documents = await FileStore.open(dir, clock, log, { disk });
const supervisor = await supervise({
  ...(await read()),
  clock,
  log,
  documents,
  processMetrics: new ProcessMetrics(true),
  startedAt: start,
  readAgain: read,
});
const server = await startServer(
  { host: '127.0.0.1', port: 0, telemetryPath: '/metrics', access },
  {
    metrics: (format, gzipped) => supervisor.engine().metrics(format, gzipped),
    unhealthy: () => supervisor.engine().unhealthy(),
    ready: () => supervisor.engine().ready(),
    status: (form, gzipped) => supervisor.engine().status(form, gzipped),
    reload: () => supervisor.reload(),
    onError: (error) => log.error({ err: String(error) }, 'page not rendered'),
  },
);
({ port } = server);
delay.enable();

function handles(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => !['Timeout', 'Immediate', 'IntervalHistogram'].includes(name));
}

function files(): number {
  return readdirSync('/proc/self/fd').length;
}

function taken(): Taken {
  const [delayMs, longestDelayMs] = [delay.percentile(99) / 1e6, delay.max / 1e6];
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  // The pause of the collection above is ours, not the program's.
  setTimeout(() => delay.reset(), 10);
  return {
    port,
    rssMiB: rss / 2 ** 20,
    heapMiB: heapUsed / 2 ** 20,
    handles: handles(),
    files: files(),
    delayMs,
    longestDelayMs,
  };
}

process.send?.(taken());
const telling = setInterval(() => process.send?.(taken()), everyMs / speed);

async function stop(): Promise<void> {
  clearInterval(telling);
  await server.close();
  await supervisor.stop();
  await documents.close();
  delay.disable();
  // What was closed is gone a moment later.
  setTimeout(() => process.send?.(taken(), () => process.exit()), 200);
}
