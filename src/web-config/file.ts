import type { ConfigError } from '../config/mistakes.ts';
import { type Clock, within } from '../lib/clock.ts';
import { type ReadResult, readWebConfig, stampOf, type WebConfig } from './load.ts';

/**
 * Longer than a working disk takes. After this time the last known config is used, so that no scrape waits for a disk.
 */
const MAX_CHECK_MS = 1_000;

type OnChange = (outcome: WebConfig | ConfigError) => void;

/** A web config file as it is now: checked for each request, read when it or a file that it names has changed. */
export class WebConfigFile {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #onChange: OnChange;
  #last: ReadResult;
  #check: Promise<unknown> | undefined;

  constructor(path: string, last: ReadResult, clock: Clock, onChange: OnChange) {
    this.#path = path;
    this.#last = last;
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** The same object until a file changes. */
  async current(): Promise<WebConfig | ConfigError> {
    // One check at a time, because on a disk that hangs each check blocks a thread.
    this.#check ??= this.#refresh().finally(() => {
      this.#check = undefined;
    });
    await within(this.#clock, MAX_CHECK_MS, this.#check, () => undefined);
    return this.#last.outcome;
  }

  async #refresh(): Promise<void> {
    const areSame = await Promise.all(
      [...this.#last.stamps].map(async ([path, stamp]) => (await stampOf(path)) === stamp),
    );
    if (areSame.every(Boolean)) return;
    this.#last = await readWebConfig(this.#path);
    this.#onChange(this.#last.outcome);
  }
}
