import { Ledger } from '../../../src/budget/ledger.ts';
import { type Entry, entrySchema, sourceId } from '../../../src/scheduler/entry.ts';
import type { Source } from '../../../src/sources/source.ts';
import { Simulation, type SimulationOptions } from '../../support/runs/simulation.ts';

/** Stops the program and starts it again after `pauseMs`, with its saved state and the same service. */
export async function restarted(
  before: Simulation,
  sources: readonly Source[],
  { pauseMs = 0, ...options }: Partial<SimulationOptions> & { pauseMs?: number } = {},
): Promise<Simulation> {
  await before.stop();
  const entries = new Map<string, Entry>();
  for (const source of sources) {
    const entry = before.entries.get(sourceId(source));
    if (entry) entries.set(sourceId(source), entrySchema(source).parse(written(entry)));
  }
  return new Simulation({
    start: before.clock.now() + pauseMs,
    sandbox: before.sandbox,
    sources,
    ledger: Ledger.parse(written(before.rateLimiter.ledger)),
    entries,
    ...options,
  });
}

function written(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
