import { Exporter, type ExporterOptions } from '../exporter/exporter.ts';
import { openDocuments } from '../exporter/state.ts';
import { VERSION } from '../facts/version.ts';
import { systemClock } from '../toolkit/lib/clock.ts';
import type { LineOutput } from '../toolkit/lib/line-output.ts';
import type { Access } from '../toolkit/web/access.ts';
import { type RunningServer, SERVER_LIMITS, startServer } from '../toolkit/web/server.ts';
import type { Flags } from './flag-table.ts';

/** The input of commands that run until they are stopped. */
export interface Start extends Pick<ExporterOptions, 'settings' | 'readAgain' | 'proxies' | 'log'> {
  readonly flags: Flags;
  /** Undefined: plain HTTP without authentication. */
  readonly access: Access | undefined;
  readonly output: LineOutput;
}

export interface Running {
  /** Reads the configuration again and logs the result. */
  reload?(): Promise<unknown>;
  /** Aborts the polls in progress, writes the state and closes the server. */
  stop(): Promise<void>;
}

/** Polls the service and serves the metrics. @param onLost Called if the state is lost while it runs */
export async function serve(start: Start, onLost: (error: Error) => void): Promise<Running> {
  return startDaemon({ ...start, ...(await openDocuments(start.settings.config.state, start.log, onLost)) });
}

interface DaemonOptions extends Start, Pick<ExporterOptions, 'documents' | 'replica' | 'isSimulated'> {}

/** Starts exporter and servers. Stops them in reverse order, also if a later start fails. */
export async function startDaemon({ flags, ...options }: DaemonOptions): Promise<Required<Running> & { port: number }> {
  const { settings, access, log } = options;
  const hasLifecycle = flags['web.enable-lifecycle'] ?? true;
  const processMetrics = !flags['web.disable-exporter-metrics'];
  const { telemetryPath, listenAddresses } = settings.config.web;
  // All servers together accept as many connections as one would.
  const maxConnections = Math.floor(SERVER_LIMITS.maxConnections / listenAddresses.length);
  const limits = { ...SERVER_LIMITS, maxConnections };
  await using starting = new AsyncDisposableStack();
  const exporter = await Exporter.start({ ...options, clock: systemClock, processMetrics });
  starting.defer(() => exporter.stop());
  const servers: RunningServer[] = [];
  for (const address of listenAddresses) {
    const server = await startServer({ ...address, telemetryPath, hasLifecycle, access, limits }, exporter);
    starting.defer(() => server.close());
    servers.push(server);
  }
  for (const { address, port } of servers)
    log.info({ address, port, tls: access?.isTls ?? false, version: VERSION }, 'listening');
  const started = starting.move();
  return { port: servers[0]?.port ?? 0, reload: () => exporter.reload(), stop: () => started.disposeAsync() };
}
