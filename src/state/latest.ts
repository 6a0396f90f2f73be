/** Writes the newest value, one write at a time: what changes during a write is written once after it. */
export class LatestWriter {
  readonly #write: () => Promise<void>;
  readonly #onError: (error: unknown) => void;
  #writing: Promise<void> | undefined;
  #again = false;

  /** `write` reads the value itself, at the time at which it is called. */
  constructor(write: () => Promise<void>, onError: (error: unknown) => void) {
    this.#write = write;
    this.#onError = onError;
  }

  /** The value has changed. */
  touch(): void {
    if (this.#writing) this.#again = true;
    else this.#writing = this.#run();
  }

  /** Resolves when what was touched before has been written, or has failed to be. */
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
