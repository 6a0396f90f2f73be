import { ConfigFile } from '../../src/config/config.ts';
import { type Engine, startEngine } from '../../src/exporter/engine.ts';
import type { EngineOptions } from '../../src/exporter/role.ts';
import { NO_DOCUMENTS } from '../../src/exporter/state.ts';
import { ProcessMetrics } from '../../src/metrics/self.ts';
import { startServer } from '../../src/web/server.ts';

type ServedExporterOptions = Pick<EngineOptions, 'key' | 'clock' | 'log'> &
  Partial<Pick<EngineOptions, 'documents' | 'startedAt'>> & {
    /** A configuration file, parsed. */
    readonly file: object;
  };

export interface ServedExporter {
  readonly engine: Engine;
  readonly port: number;
  /** Closes the server. The engine goes on. */
  close(): Promise<void>;
}

/** Starts the exporter in this process and serves it on a free port. */
export async function startServedExporter({ file, ...options }: ServedExporterOptions): Promise<ServedExporter> {
  const startedAt = options.clock.now();
  const engine = await startEngine({
    config: ConfigFile.parse(file),
    documents: NO_DOCUMENTS,
    processMetrics: new ProcessMetrics(false),
    lastReload: () => ({ isSuccessful: true, successAt: startedAt }),
    startedAt,
    ...options,
  });
  const server = await startServer(
    { host: '127.0.0.1', port: 0, telemetryPath: '/metrics' },
    {
      ...engine,
      reload: async () => undefined,
      onError: (error) => options.log.error({ err: error }, 'page not rendered'),
    },
  );
  return { engine, port: server.port, close: () => server.close() };
}
