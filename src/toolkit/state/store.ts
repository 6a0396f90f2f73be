import type * as z from 'zod';
import type { Clock } from '../lib/clock.ts';
import type { Milliseconds, MonotonicMs } from '../lib/time.ts';

/** Keeps values by name over restarts. */
export interface StateStore {
  /**
   * Undefined if it is absent, or unreadable: then it was moved aside with a warning.
   * @throws StateOfOtherVersion, and leaves the document as it is
   */
  load<S extends z.ZodType>(name: string, schema: S): Promise<z.output<S> | undefined>;
  /**
   * Resolves when the value survives the end of this process and, in files, a loss of power. The value must not change
   * until then.
   */
  save(name: string, value: unknown): Promise<void>;
}

const RETRY_MS = 15_000;

export interface LatestWriterOptions {
  readonly write: () => Promise<void>;
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
  /** The shortest time between two writes that nobody waits for. */
  readonly everyMs: Milliseconds;
}

/**
 * Writes the latest value, one write at a time. However often the value changes during a write, one more follows. A failed
 * write is repeated, because the value may not change again.
 */
export function latestWriter({ write, onError, clock, everyMs }: LatestWriterOptions) {
  const closing = new AbortController();
  let writing: Promise<void> | undefined;
  let isChanged = false;
  let isWaiting = false;
  let notBefore: MonotonicMs = Number.NEGATIVE_INFINITY;

  function touch(): void {
    isChanged = true;
    writeInTime();
  }

  /** Writes what has changed as soon as the next write may begin. */
  function writeInTime(): void {
    if (!isChanged || writing || isWaiting) return;
    const ms = notBefore - clock.monotonic();
    if (ms <= 0) {
      writing = run();
      return;
    }
    isWaiting = true;
    const endWait = (): void => {
      isWaiting = false;
      writeInTime();
    };
    clock.sleep(ms, closing.signal).then(endWait, () => undefined);
  }

  async function run(): Promise<void> {
    isChanged = false;
    notBefore = clock.monotonic() + everyMs;
    try {
      await write();
    } catch (error) {
      isChanged = true;
      notBefore = clock.monotonic() + RETRY_MS;
      onError(error);
    }
    writing = undefined;
    writeInTime();
  }

  /** Resolves when every change so far has been written, or its write has failed. */
  async function flush(): Promise<void> {
    await writing;
    if (isChanged) writing ??= run();
    await writing;
  }

  /** Writes what has changed now, and then no more. */
  async function close(): Promise<void> {
    closing.abort('closed');
    await flush();
  }

  return { touch, flush, close };
}
