import { z } from 'zod';
import type { Logger } from '../lib/log.ts';
import type { UnixMs } from '../lib/time.ts';
import type { StateStore } from '../state/store.ts';

/** The name of the document. */
export const PROCESS = 'process';

/** The process that used the state last. */
export const ProcessRecord = z.object({
  startedAt: z.number(),
  /** When it could no longer be scraped. Absent: it runs, or was killed. */
  stoppedAt: z.number().exactOptional(),
});

/** Notes that this process has started. Returns when the one before it stopped; undefined: unknown. */
export async function noteStart(documents: StateStore, log: Logger, startedAt: UnixMs): Promise<UnixMs | undefined> {
  const before = await documents.load(PROCESS, ProcessRecord);
  await save(documents, log, { startedAt });
  return before?.stoppedAt;
}

/** Notes that this process has stopped. */
export async function noteStop(documents: StateStore, log: Logger, times: Required<ProcessTimes>): Promise<void> {
  await save(documents, log, times);
}

type ProcessTimes = z.infer<typeof ProcessRecord>;

/** Without it a backfill leaves out a few minutes more than it has to. */
async function save(documents: StateStore, log: Logger, times: ProcessTimes): Promise<void> {
  await documents
    .save(PROCESS, times)
    .catch((error: unknown) => log.error({ document: PROCESS, err: String(error) }, 'state not written'));
}
