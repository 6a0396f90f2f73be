import type { Transport } from '../../../src/api/transport.ts';
import type { Outside } from '../../../src/exporter/client.ts';
import { Exporter, type ExporterOptions } from '../../../src/exporter/exporter.ts';
import { NO_DOCUMENTS } from '../../../src/exporter/state.ts';
import { ConfigFile } from '../../../src/sources/registry.ts';
import type { StateStore } from '../../../src/toolkit/state/store.ts';
import { startServer } from '../../../src/toolkit/web/server.ts';
import { logLines } from '../log/log-lines.ts';

/** Starts the exporter in this process. By default it keeps nothing, and a reload changes nothing. */
export function startInProcess(
  options: Pick<ExporterOptions, 'settings' | 'clock'> & Partial<ExporterOptions>,
): Promise<Exporter> {
  return Exporter.start({
    readAgain: async () => options.settings,
    log: logLines().log,
    documents: NO_DOCUMENTS,
    processMetrics: false,
    ...options,
  });
}

/** A network that this function stands for. */
export function sending(send: Transport): Outside {
  return { createTransport: () => ({ send, close: async () => undefined }), random: () => 0.5 };
}

interface ServedExporterOptions extends Pick<ExporterOptions, 'clock' | 'log' | 'outside'> {
  /** A configuration file, parsed. */
  readonly file: object;
  readonly key: string;
  /** Default: none. */
  readonly documents?: StateStore;
}

export type ServedExporter = Awaited<ReturnType<typeof startServedExporter>>;

/** Starts the exporter in this process and serves it on a free port. `close` closes the server: the exporter goes on. */
export async function startServedExporter(options: ServedExporterOptions) {
  const { file, key, clock, log, documents, outside } = options;
  const settings = { config: ConfigFile.parse(file), key };
  const kept = { ...NO_DOCUMENTS, ...documents };
  const exporter = await startInProcess({ settings, clock, log, documents: kept, outside });
  const server = await startServer({ host: '127.0.0.1', port: 0, telemetryPath: '/metrics' }, exporter);
  return { exporter, port: server.port, close: () => server.close() };
}
