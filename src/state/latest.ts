/** Writes the latest value, one write at a time. However often it changes during a write, one more write follows. */
export class LatestWriter {
  readonly #write: () => Promise<void>;
  readonly #onError: (error: unknown) => void;
  #writing: Promise<void> | undefined;
  #again = false;

  /** `write` reads the value when it is called. */
  constructor(write: () => Promise<void>, onError: (error: unknown) => void) {
    this.#write = write;
    this.#onError = onError;
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

  async #run(): Promise<void> {
    do {
      this.#again = false;
      await this.#write().catch(this.#onError);
    } while (this.#again);
    this.#writing = undefined;
  }
}
