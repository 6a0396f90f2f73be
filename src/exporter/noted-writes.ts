import type * as z from 'zod';
import type { Clock } from '../lib/clock.ts';
import type { UnixMs } from '../lib/time.ts';
import { LeaseLost } from '../replica/lease.ts';
import type { StateStore } from '../state/store.ts';

/** A store that remembers when a write failed, for the status page. */
export class NotedWrites implements StateStore {
  readonly #store: StateStore;
  readonly #clock: Clock;
  #failedAt: UnixMs | undefined;

  constructor(store: StateStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** When a write last failed; undefined: none has. */
  get failedAt(): UnixMs | undefined {
    return this.#failedAt;
  }

  load<S extends z.ZodType>(name: string, schema: S): Promise<z.output<S> | undefined> {
    return this.#store.load(name, schema);
  }

  async save(name: string, value: unknown): Promise<void> {
    try {
      await this.#store.save(name, value);
    } catch (error) {
      // Another replica writes now: nothing is lost.
      if (!(error instanceof LeaseLost)) this.#failedAt = this.#clock.now();
      throw error;
    }
  }
}
