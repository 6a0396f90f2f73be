import type { Clock } from '../lib/clock.ts';
import type { StateStore } from '../state/store.ts';
import type { Engine } from './engine.ts';
import { type SupervisorOptions, supervise } from './reload.ts';

export interface ExporterOptions extends Omit<SupervisorOptions, 'startedAt'> {
  /** The clock of this process. Replicas follow that of their server in `clock`. */
  readonly ownClock: Clock;
  /** Keeps the state over restarts; closed when the exporter has stopped. */
  readonly documents: StateStore & { close(): Promise<void> };
}

/** All of a process but its server. */
export interface Exporter {
  /** The running engine; while it is replaced, the previous one. */
  engine(): Engine;
  /** Reads the settings again. Returns undefined if they now apply, else the reason why nothing has changed. */
  reload(): Promise<string | undefined>;
  /** Aborts the polls in progress and writes the state. To be called when nothing can be scraped any more. */
  stop(): Promise<void>;
}

/** Starts an engine that is kept running. */
export async function startExporter(options: ExporterOptions): Promise<Exporter> {
  const { ownClock, documents } = options;
  await using starting = new AsyncDisposableStack();
  starting.defer(() => documents.close());
  const supervisor = await supervise({ ...options, startedAt: ownClock.now() });
  starting.defer(() => supervisor.stop());
  const started = starting.move();
  return {
    engine: () => supervisor.engine(),
    reload: () => supervisor.reload(),
    stop: () => started.disposeAsync(),
  };
}
