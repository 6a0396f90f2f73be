import type * as z from 'zod';
import type { Clock } from '../lib/clock.ts';

/** Keeps values by name over restarts. */
export interface StateStore {
  /**
   * Undefined: there is none, or it cannot be read and was moved aside with a warning.
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

/**
 * Writes the latest value, one write at a time. However often it changes during a write, one more write follows. A failed
 * write is repeated, because the value may not change again.
 * @param write Reads the value when it is called
 */
export function latestWriter(write: () => Promise<void>, onError: (error: unknown) => void, clock: Clock) {
  const closing = new AbortController();
  let writing: Promise<void> | undefined;
  let again = false;
  let hasFailed = false;
  let isWaiting = false;

  /** The value has changed. */
  function touch(): void {
    if (writing) again = true;
    else writing = run();
  }

  async function run(): Promise<void> {
    do {
      again = false;
      try {
        await write();
        hasFailed = false;
      } catch (error) {
        hasFailed = true;
        onError(error);
        repeatLater();
      }
    } while (again);
    writing = undefined;
  }

  function repeat(): void {
    if (hasFailed) touch();
  }

  function repeatLater(): void {
    // Changes are written too. If each of their failures began another wait, waits would pile up.
    if (isWaiting) return;
    isWaiting = true;
    clock.sleep(RETRY_MS, closing.signal).then(
      () => {
        isWaiting = false;
        repeat();
      },
      () => undefined,
    );
  }

  /** Resolves when every change so far has been written, or its write has failed. */
  async function flush(): Promise<void> {
    await writing;
  }

  /** Repeats a failed write now, and then no more. */
  async function close(): Promise<void> {
    closing.abort('closed');
    repeat();
    await flush();
  }

  return { touch, flush, close };
}
