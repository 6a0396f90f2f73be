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
 */
export class LatestWriter {
  readonly #write: () => Promise<void>;
  readonly #onError: (error: unknown) => void;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  #writing: Promise<void> | undefined;
  #again = false;
  #hasFailed = false;
  #isWaiting = false;

  /** `write` reads the value when it is called. */
  constructor(write: () => Promise<void>, onError: (error: unknown) => void, clock: Clock) {
    this.#write = write;
    this.#onError = onError;
    this.#clock = clock;
  }

  /** The value has changed. */
  touch(): void {
    if (this.#writing) this.#again = true;
    else this.#writing = this.#run();
  }

  /** Resolves when every change so far has been written, or its write has failed. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  /** Repeats a failed write now, and then no more. */
  async close(): Promise<void> {
    this.#closing.abort('closed');
    this.#repeat();
    await this.flush();
  }

  async #run(): Promise<void> {
    do {
      this.#again = false;
      try {
        await this.#write();
        this.#hasFailed = false;
      } catch (error) {
        this.#hasFailed = true;
        this.#onError(error);
        this.#repeatLater();
      }
    } while (this.#again);
    this.#writing = undefined;
  }

  #repeat(): void {
    if (this.#hasFailed) this.touch();
  }

  #repeatLater(): void {
    // Changes are written too. If each of their failures began another wait, waits would pile up.
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#clock.sleep(RETRY_MS, this.#closing.signal).then(
      () => {
        this.#isWaiting = false;
        this.#repeat();
      },
      () => undefined,
    );
  }
}
