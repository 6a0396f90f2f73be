import type { Logger } from 'pino';
import type { CreateTransport } from '../../src/api/transport.ts';
import { Exporter } from '../../src/exporter/exporter.ts';
import type { Settings } from '../../src/exporter/settings.ts';
import type { Clock } from '../../src/toolkit/lib/clock.ts';
import type { StateStore } from '../../src/toolkit/state/store.ts';

/** What the program reads from its configuration. */
export type { Settings };

/** What the program uses of the simulated world. */
export interface Around {
  /** @throws Error that says what is wrong with the configuration */
  readonly readSettings: (why: 'start' | 'reload') => Settings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly documents: StateStore & { close(): Promise<void> };
  readonly createTransport: CreateTransport;
  /** In [0, 1). */
  readonly random: () => number;
  /** How often its own metrics are rendered. */
  readonly refreshMs: number;
}

/** The program under test. */
export interface Program {
  /** /metrics as it is now. */
  metrics(): string;
  /** undefined: healthy. */
  unhealthy(): string | undefined;
  reload(): Promise<unknown>;
  stop(): Promise<void>;
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
