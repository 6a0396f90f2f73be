import { type ApiOptions, createApi, laneOf } from './api/client.ts';
import { ENDPOINTS } from './api/errors.ts';
import { createTransport } from './api/transport.ts';
import { Pacer } from './budget/pacer.ts';
import type { Config } from './config/config.ts';
import { isReady, problemOf } from './health.ts';
import { type RunningServer, startServer } from './http/server.ts';
import { statusPage } from './http/status-page.ts';
import { type Clock, systemClock } from './lib/clock.ts';
import type { Logger } from './lib/log.ts';
import { Stopper } from './lib/stop.ts';
import { Exposition } from './metrics/exposition.ts';
import { SelfMetrics } from './metrics/self.ts';
import { OwnMetrics } from './own-metrics.ts';
import { ATTEMPTS, expositionParts } from './parts.ts';
import { logPlan } from './plan-log.ts';
import { Scheduler } from './scheduler/scheduler.ts';
import type { Documents } from './snapshot/file.ts';
import { LatestWriter } from './snapshot/latest.ts';
import { sourcesOf } from './sources.ts';
import { LEDGER, restore } from './state.ts';
import { statusOf } from './status.ts';
import { termsOf } from './terms.ts';
import { VERSION } from './version.ts';

export interface DaemonOptions {
  readonly config: Config;
  readonly key: string;
  readonly log: Logger;
  /** Where what is known survives a restart; closed when the daemon has stopped. */
  readonly documents: Documents & { close(): Promise<void> };
  /** Whether process_* and nodejs_* are exposed. */
  readonly processMetrics: boolean;
}

export interface Daemon {
  readonly port: number;
  /** Aborts what is in flight, writes the state and closes the server. */
  stop(): Promise<void>;
}

/** Builds the parts and starts them: what was started is stopped last in first out, also when a later start fails. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const stopper = new Stopper();
  try {
    const { port } = await start(options, systemClock, stopper);
    return { port, stop: () => stopper.stop() };
  } catch (error) {
    await stopper.stop();
    throw error;
  }
}

async function start(options: DaemonOptions, clock: Clock, stopper: Stopper): Promise<RunningServer> {
  const { config, key, log, documents } = options;
  const configLoadedAt = clock.now();
  stopper.add(() => documents.close());
  const sources = sourcesOf(config, log);
  const { ledger, entries, totals } = await restore(documents, sources, key, clock.now());

  let ledgerFailures = 0;
  const ledgerWriter = new LatestWriter(
    () => documents.save(LEDGER, pacer.ledger, 'process'),
    (error) => {
      ledgerFailures += 1;
      log.error({ err: String(error) }, 'ledger not written');
    },
  );
  stopper.add(() => ledgerWriter.flush());
  const pacer = new Pacer(termsOf(config), { clock, ledger, onChange: () => ledgerWriter.touch() });
  const self = new SelfMetrics({ endpoints: ENDPOINTS, process: options.processMetrics });
  const transport = createTransport({ timeoutMs: config.api.timeoutMs });
  stopper.add(() => transport.close());
  const apiOptions = apiOptionsOf(config, key);
  const api = createApi(apiOptions, {
    budget: pacer,
    transport: transport.send,
    observer: self,
    clock,
    random: Math.random,
  });

  const scheduler = new Scheduler(sources, entries, {
    api,
    clock,
    log,
    store: { save: (id, entry) => documents.save(id, entry, 'durable') },
    allowance: {
      bucketOf: (source) => pacer.bucketOf(laneOf(apiOptions, source)),
      allowedPerDay: (bucket) => pacer.allowedPerDay(bucket),
    },
    opensAt: (source) => pacer.opensAt(laneOf(apiOptions, source)),
    isInformed: () => pacer.ledger.key.standing !== 'unknown',
    onPlan: (paces) => logPlan(log, paces),
    onChange: ({ name }) => exposition.touch(name, ATTEMPTS),
  });
  const own = new OwnMetrics({
    scheduler,
    pacer,
    self,
    clock,
    configLoadedAt,
    documents,
    totals,
    writeFailures: () => scheduler.saveFailures + ledgerFailures,
  });
  const exposition = new Exposition(
    expositionParts(scheduler, () => own.families(), clock),
    clock,
    (error) => log.error({ err: String(error) }, 'metrics not rendered'),
  );
  await exposition.refresh();

  const { telemetryPath, listenAddress } = config.web;
  let ready = false;
  const server = await startServer(
    { ...listenAddress, telemetryPath },
    {
      metrics: (format, gzipped) => exposition.chunks(format, gzipped),
      unhealthy: () => problemOf(scheduler.views(), clock.monotonic() - scheduler.heartbeatAt, clock.now()),
      ready: () => (ready ||= isReady(scheduler.views(), clock.now())),
      status: () => statusPage(statusOf(scheduler.views(), pacer.ledger, { now: clock.now(), telemetryPath })),
      onError: (error) => log.error({ err: String(error) }, 'page not rendered'),
    },
  );
  stopper.add(() => server.close());

  const abort = new AbortController();
  const loops = [scheduler.run(abort.signal), exposition.run(abort.signal)];
  stopper.add(async () => {
    abort.abort(new Error('stopping'));
    await Promise.all(loops);
  });
  log.info({ port: server.port, version: VERSION }, 'listening');
  return server;
}

/** Where and as whom the API is asked. */
export function apiOptionsOf(config: Config, key: string): ApiOptions {
  return {
    baseUrl: config.api.baseUrl,
    v1BaseUrls: Object.fromEntries(config.chains.map(({ name, v1BaseUrl }) => [name, v1BaseUrl])),
    key,
    userAgent: `beaconchain-exporter/${VERSION}`,
  };
}
