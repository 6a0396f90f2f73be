import { Exporter, type ExporterOptions } from '../exporter/exporter.ts';
import { loadTransport } from '../exporter/outside.ts';
import { systemClock } from '../lib/clock.ts';
import { VERSION } from '../lib/version.ts';
import type { Access } from '../web/access.ts';
import { startServer } from '../web/server.ts';

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
  const { telemetryPath, listenAddress } = settings.config.web;
  await using starting = new AsyncDisposableStack();
  const exporter = await Exporter.start({ ...options.exporter, access });
  starting.defer(() => exporter.stop());
  const server = await startServer({ ...listenAddress, telemetryPath, hasLifecycle, access }, exporter);
  starting.defer(() => server.close());
  log.info({ port: server.port, tls: access?.isTls ?? false, version: VERSION }, 'listening');
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
