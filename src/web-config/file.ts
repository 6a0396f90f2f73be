import { ConfigError } from '../config/mistakes.ts';
import type { Clock } from '../lib/clock.ts';
import { type Reading, readWebConfig, stampOf, type WebConfig } from './load.ts';

/** Longer than a disk that works takes; then what was last known holds, because a scrape waits for no disk. */
const MAX_CHECK_MS = 1_000;

type OnChange = (outcome: WebConfig | ConfigError) => void;

/** A web config file as it is at this moment: looked at for each request, read when it or a file it names has changed. */
export class WebConfigFile {
  /** As it was when it was opened. */
  readonly initial: WebConfig;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #onChange: OnChange;
  #last: Reading;
  #check: Promise<unknown> | undefined;

  private constructor(path: string, initial: WebConfig, last: Reading, clock: Clock, onChange: OnChange) {
    this.initial = initial;
    this.#path = path;
    this.#last = last;
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** @throws ConfigError with every mistake at once. */
  static async open(path: string, clock: Clock, onChange: OnChange): Promise<WebConfigFile> {
    const reading = await readWebConfig(path);
    if (reading.outcome instanceof ConfigError) throw reading.outcome;
    return new WebConfigFile(path, reading.outcome, reading, clock, onChange);
  }

  /** The same object until a file changes. */
  async current(): Promise<WebConfig | ConfigError> {
    // One look at a time: a disk that hangs must not take one thread after the other.
    this.#check ??= this.#refresh().finally(() => {
      this.#check = undefined;
    });
    const patience = new AbortController();
    const tired = this.#clock.sleep(MAX_CHECK_MS, patience.signal).catch(() => undefined);
    await Promise.race([this.#check, tired]);
    patience.abort();
    return this.#last.outcome;
  }

  async #refresh(): Promise<void> {
    const looked = await Promise.all(
      [...this.#last.stamps].map(async ([path, stamp]) => (await stampOf(path)) === stamp),
    );
    if (looked.every(Boolean)) return;
    this.#last = await readWebConfig(this.#path);
    this.#onChange(this.#last.outcome);
  }
}
