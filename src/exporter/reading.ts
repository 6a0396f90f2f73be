import { type Clock, within } from '../lib/clock.ts';

/** Much longer than reading a few small files takes. */
const READ_WITHIN_MS = 10_000;

/**
 * The same reading, abandoned when it takes too long or the signal aborts: a disk that does not answer must not block
 * the next reload or a stop. Until an abandoned reading ends, no other one starts, because each occupies one of the few
 * threads that read files.
 */
export function limitedReading<T>(read: () => Promise<T>, clock: Clock, signal: AbortSignal): () => Promise<T> {
  let isReading = false;
  return async () => {
    if (isReading) throw new Error('an earlier reload is still reading the files');
    isReading = true;
    const reading = read().finally(() => {
      isReading = false;
    });
    const late = (): never => {
      throw new Error(`the files could not be read within ${READ_WITHIN_MS / 1000} s`);
    };
    return within(clock, READ_WITHIN_MS, reading, late, signal);
  };
}
