import type { Clock } from '../lib/clock.ts';
import type { StateStore } from '../state/store.ts';
import type { Engine } from './engine.ts';
import { noteTimes, predecessor } from './process-record.ts';
import { type SupervisorOptions, supervise } from './reload.ts';

export interface ExporterOptions extends Omit<SupervisorOptions, 'startedAt' | 'stoppedAt' | 'hasPredecessor'> {
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

/** Starts an engine that is kept running, and notes for the next process when this one starts and stops. */
export async function startExporter(options: ExporterOptions): Promise<Exporter> {
  const { ownClock, log, documents, replica } = options;
  await using starting = new AsyncDisposableStack();
  starting.defer(() => documents.close());
  const startedAt = ownClock.now();
  // Other replicas show the same values while this one is stopped.
  const before = replica ? undefined : await predecessor(documents);
  const hasPredecessor = replica !== undefined || before !== undefined;
  const supervisor = await supervise({ ...options, startedAt, stoppedAt: before?.stoppedAt, hasPredecessor });
  // Only now, so that a start that is refused because of the state changes nothing. Nobody has scraped yet.
  if (!replica) await noteTimes(documents, log, { startedAt });
  starting.defer(async () => {
    const times = { startedAt, stoppedAt: ownClock.now() };
    await supervisor.stop();
    if (!replica) await noteTimes(documents, log, times);
  });
  const started = starting.move();
  return {
    engine: () => supervisor.engine(),
    reload: () => supervisor.reload(),
    stop: () => started.disposeAsync(),
  };
}
