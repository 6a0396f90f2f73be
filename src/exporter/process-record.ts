import * as z from 'zod';
import type { Logger } from '../lib/log.ts';
import type { StateStore } from '../state/store.ts';
import { loadDocument } from './state.ts';

/** The name of the document. */
export const PROCESS = 'process';

/** The process that used the state last. */
export const ProcessRecord = z.object({
  startedAt: z.number(),
  /** When it could no longer be scraped. Absent: it is running, or was killed. */
  stoppedAt: z.number().exactOptional(),
});

type ProcessTimes = z.infer<typeof ProcessRecord>;

/** The process before this one; undefined: none, or unknown. @throws StateRefused */
export function predecessor(documents: StateStore): Promise<ProcessTimes | undefined> {
  return loadDocument(documents, PROCESS, ProcessRecord);
}

/** Without the times a backfill leaves out a few minutes more than it has to. */
export async function noteTimes(documents: StateStore, log: Logger, times: ProcessTimes): Promise<void> {
  await documents
    .save(PROCESS, times)
    .catch((error: unknown) => log.error({ document: PROCESS, err: String(error) }, 'state not written'));
}
