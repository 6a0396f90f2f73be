import { type ExporterOptions, startExporter } from '../exporter/exporter.ts';
import { loadTransport } from '../exporter/outside.ts';
import { systemClock } from '../lib/clock.ts';
import { VERSION } from '../lib/version.ts';
import { ProcessMetrics } from '../metrics/self.ts';
import { startServer } from '../web/server.ts';
import type { Access } from '../web-config/access.ts';

export interface DaemonOptions extends Omit<ExporterOptions, 'clock' | 'ownClock' | 'processMetrics'> {
  /** Whether to expose process_* and nodejs_*. */
  readonly processMetrics: boolean;
  /** Whether a reload may be requested over HTTP; default true. */
  readonly hasLifecycle?: boolean | undefined;
  /** The web config file; undefined: plain HTTP without authentication. */
  readonly access: Access | undefined;
}

export interface Daemon {
  readonly port: number;
  /** Reads the configuration again and logs the result. */
  reload(): Promise<unknown>;
  /** Aborts the polls in progress, writes the state and closes the server. */
  stop(): Promise<void>;
}

/** Late enough not to delay the first scrape. */
const LOAD_TRANSPORT_AFTER_MS = 10_000;

/** Starts the parts. They are stopped in reverse order, also when a later start fails. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { config, log, replica } = options;
  await using starting = new AsyncDisposableStack();
  const exporter = await startExporter({
    ...options,
    clock: replica?.clock ?? systemClock,
    ownClock: systemClock,
    processMetrics: new ProcessMetrics(options.processMetrics),
  });
  starting.defer(() => exporter.stop());

  let ready = false;
  const { telemetryPath, listenAddress } = config.web;
  const server = await startServer(
    { ...listenAddress, telemetryPath, hasLifecycle: options.hasLifecycle, access: options.access },
    {
      metrics: (format, gzipped) => exporter.engine().metrics(format, gzipped),
      unhealthy: () => exporter.engine().unhealthy(),
      ready: () => (ready ||= exporter.engine().ready()),
      status: (form, gzipped) => exporter.engine().status(form, gzipped),
      reload: () => exporter.reload(),
      onError: (error) => log.error({ err: String(error) }, 'page not rendered'),
    },
  );
  starting.defer(() => server.close());
  log.info({ port: server.port, tls: options.access?.isTls ?? false, version: VERSION }, 'listening');
  const stop = new AbortController();
  starting.defer(() => stop.abort());
  // A follower may send its first request weeks later, when an upgrade has replaced the files. If this load fails, the
  // request reports it.
  systemClock
    .sleep(LOAD_TRANSPORT_AFTER_MS, stop.signal)
    .then(loadTransport)
    .catch(() => undefined);
  const started = starting.move();
  return { port: server.port, reload: () => exporter.reload(), stop: () => started.disposeAsync() };
}
