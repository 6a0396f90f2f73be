import type { Outside } from '../../src/exporter/client.ts';
import { Exporter, type ExporterOptions } from '../../src/exporter/exporter.ts';
import type { Settings } from '../../src/exporter/settings.ts';

/** What the program uses of the simulated world. */
export interface Around extends Pick<ExporterOptions, 'clock' | 'log' | 'documents'>, Outside {
  /** @throws Error that says what is wrong with the configuration */
  readonly readSettings: (why: 'start' | 'reload') => Settings;
  /** How often its own metrics are rendered. */
  readonly refreshMs: number;
}

/** The program under test. */
export interface Program extends Pick<Exporter, 'unhealthy' | 'reload' | 'stop'> {
  /** /metrics as it is now. */
  metrics(): string;
}

/** Builds and starts the program. Nothing else in the simulation knows how. */
export async function startProgram(around: Around): Promise<Program> {
  const { readSettings, clock, log, documents, createTransport, random, refreshMs } = around;
  const exporter = await Exporter.start({
    settings: readSettings('start'),
    readAgain: async () => readSettings('reload'),
    clock,
    log,
    documents,
    processMetrics: false,
    // Bytes that are not compressed are served as well as any: nothing reads them here.
    exposition: { compress: async (plain) => plain, maxNapMs: refreshMs },
    outside: { createTransport, random },
  });
  return {
    metrics: () => Buffer.concat(exporter.metrics('text', false)).toString(),
    unhealthy: () => exporter.unhealthy(),
    reload: () => exporter.reload(),
    stop: () => exporter.stop(),
  };
}
