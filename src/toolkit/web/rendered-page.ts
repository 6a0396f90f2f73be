import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';
import type { MonotonicMs } from '../lib/time.ts';

/** A page is rendered at most once in this time. */
const FRESH_MS = 1_000;
/** How long rendering may block the event loop, plus at most one row. */
const SLICE_MS = 5;

interface Rendering {
  readonly startedAt: MonotonicMs;
  readonly page: Promise<Buffer>;
}

/** Renders the status on request, in slices so that scrapes run in between. */
export class RenderedPage {
  readonly #read: () => Iterable<string>;
  readonly #clock: Clock;
  #last: Rendering | undefined;

  constructor(read: () => Iterable<string>, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  /** At most a second old. @throws what reading or rendering throws. */
  bytes(): Promise<Buffer> {
    const now = this.#clock.monotonic();
    if (!this.#last || now - this.#last.startedAt >= FRESH_MS) this.#last = { startedAt: now, page: this.#render() };
    return this.#last.page;
  }

  async #render(): Promise<Buffer> {
    const chunks: string[] = [];
    let sliceEnds = this.#clock.monotonic() + SLICE_MS;
    for (const piece of this.#read()) {
      chunks.push(piece);
      if (this.#clock.monotonic() < sliceEnds) continue;
      await setImmediate();
      sliceEnds = this.#clock.monotonic() + SLICE_MS;
    }
    return Buffer.from(chunks.join(''));
  }
}
