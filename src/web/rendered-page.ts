import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../lib/clock.ts';
import type { MonotonicMs } from '../lib/time.ts';

const compress = promisify(gzip);
/** The page, or the page that reloads itself. */
export type StatusForm = 'page' | 'refreshing';

/** A page is rendered at most once in this time. */
const FRESH_MS = 1_000;
/** How long rendering may block the event loop, plus at most one row. */
const SLICE_MS = 5;

interface Rendering {
  readonly startedAt: MonotonicMs;
  readonly plain: Promise<Buffer>;
  gzipped?: Promise<Buffer>;
}

/** Renders the status on request, in slices so that scrapes run in between. */
export class RenderedPage {
  readonly #read: (form: StatusForm) => Iterable<string>;
  readonly #clock: Clock;
  readonly #renderings = new Map<StatusForm, Rendering>();

  constructor(read: (form: StatusForm) => Iterable<string>, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  /** At most a second old. @throws what reading or rendering throws. */
  bytes(form: StatusForm, gzipped: boolean): Promise<Buffer> {
    const rendering = this.#rendering(form);
    if (!gzipped) return rendering.plain;
    rendering.gzipped ??= rendering.plain.then((plain) => compress(plain));
    return rendering.gzipped;
  }

  #rendering(form: StatusForm): Rendering {
    const now = this.#clock.monotonic();
    const known = this.#renderings.get(form);
    if (known && now - known.startedAt < FRESH_MS) return known;
    const rendering = { startedAt: now, plain: this.#render(form) };
    this.#renderings.set(form, rendering);
    return rendering;
  }

  async #render(form: StatusForm): Promise<Buffer> {
    const chunks: string[] = [];
    let sliceEnds = this.#clock.monotonic() + SLICE_MS;
    for (const piece of this.#read(form)) {
      chunks.push(piece);
      if (this.#clock.monotonic() < sliceEnds) continue;
      await setImmediate();
      sliceEnds = this.#clock.monotonic() + SLICE_MS;
    }
    return Buffer.from(chunks.join(''));
  }
}
