import { Exporter, type ExporterOptions } from '../exporter/exporter.ts';
import { loadTransport } from '../exporter/outside.ts';
import { systemClock } from '../lib/clock.ts';
import { VERSION } from '../lib/version.ts';
import type { Access } from '../web/access.ts';
import { LIMITS, type RunningServer, startServer } from '../web/server.ts';

export interface DaemonOptions {
  readonly exporter: ExporterOptions;
  /** Whether a reload may be requested over HTTP. */
  readonly hasLifecycle: boolean;
  /** Undefined: plain HTTP without authentication. */
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
export async function startDaemon({ hasLifecycle, access, ...options }: DaemonOptions): Promise<Daemon> {
  const { settings, log } = options.exporter;
  const { telemetryPath, listenAddresses } = settings.config.web;
  // Together as many as one server would take.
  const limits = { ...LIMITS, maxConnections: Math.floor(LIMITS.maxConnections / listenAddresses.length) };
  await using starting = new AsyncDisposableStack();
  const exporter = await Exporter.start({ ...options.exporter, access });
  starting.defer(() => exporter.stop());
  const servers: RunningServer[] = [];
  for (const address of listenAddresses) {
    const server = await startServer({ ...address, telemetryPath, hasLifecycle, access, limits }, exporter);
    starting.defer(() => server.close());
    servers.push(server);
  }
  for (const { address, port } of servers)
    log.info({ address, port, tls: access?.isTls ?? false, version: VERSION }, 'listening');
  const stop = new AbortController();
  starting.defer(() => stop.abort());
  // A follower may send its first request weeks later, when an upgrade has replaced the files. If this load fails, the
  // request reports it.
  systemClock
    .sleep(LOAD_TRANSPORT_AFTER_MS, stop.signal)
    .then(loadTransport)
    .catch(() => undefined);
  const started = starting.move();
  return { port: servers[0]?.port ?? 0, reload: () => exporter.reload(), stop: () => started.disposeAsync() };
}
