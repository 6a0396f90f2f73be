import { ConfigFile } from '../../../src/config/config.ts';
import type { Outside } from '../../../src/exporter/client.ts';
import { Exporter } from '../../../src/exporter/exporter.ts';
import { NO_DOCUMENTS } from '../../../src/exporter/state.ts';
import type { Clock } from '../../../src/toolkit/lib/clock.ts';
import type { Logger } from '../../../src/toolkit/lib/log.ts';
import type { StateStore } from '../../../src/toolkit/state/store.ts';
import { startServer } from '../../../src/toolkit/web/server.ts';

interface ServedExporterOptions {
  /** A configuration file, parsed. */
  readonly file: object;
  readonly key: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly outside?: Outside;
  /** Default: none. */
  readonly documents?: StateStore;
}

export interface ServedExporter {
  readonly exporter: Exporter;
  readonly port: number;
  /** Closes the server. The exporter goes on. */
  close(): Promise<void>;
}

/** Starts the exporter in this process and serves it on a free port. */
export async function startServedExporter(options: ServedExporterOptions): Promise<ServedExporter> {
  const { file, key, clock, log, documents, outside } = options;
  const settings = { config: ConfigFile.parse(file), key };
  const exporter = await Exporter.start({
    settings,
    readAgain: async () => settings,
    clock,
    log,
    documents: { ...NO_DOCUMENTS, ...documents },
    processMetrics: false,
    outside,
  });
  const server = await startServer({ host: '127.0.0.1', port: 0, telemetryPath: '/metrics' }, exporter);
  return { exporter, port: server.port, close: () => server.close() };
}
