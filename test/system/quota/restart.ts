import { Ledger } from '../../../src/budget/ledger.ts';
import { type Entry, entrySchema, sourceId } from '../../../src/scheduler/entry.ts';
import type { Source } from '../../../src/sources/source.ts';
import { SandboxRun, type SandboxRunOptions } from '../../support/runs/sandbox-run.ts';

/** Stops the program and starts it again after `pauseMs`, with its saved state and the same service. */
export async function restarted(
  before: SandboxRun,
  sources: readonly Source[],
  { pauseMs = 0, ...options }: Partial<SandboxRunOptions> & { pauseMs?: number } = {},
): Promise<SandboxRun> {
  await before.stop();
  const entries = new Map<string, Entry>();
  for (const source of sources) {
    const entry = before.entries.get(sourceId(source));
    if (entry) entries.set(sourceId(source), entrySchema(source).parse(written(entry)));
  }
  return new SandboxRun({
    start: before.clock.now() + pauseMs,
    sandbox: before.sandbox,
    sources,
    ledger: Ledger.parse(written(before.rateLimiter.settleLedger())),
    entries,
    ...options,
  });
}

function written(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
