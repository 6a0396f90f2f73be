import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../lib/clock.ts';
import type { MonotonicMs } from '../lib/time.ts';
import { pagePieces, type StatusPage } from './page.ts';

const compress = promisify(gzip);
/** A page is rendered at most once in this time. */
const FRESH_MS = 1_000;
/** How long rendering may block the event loop, plus at most one row. */
const SLICE_MS = 5;

interface Rendering {
  readonly startedAt: MonotonicMs;
  readonly plain: Promise<Buffer>;
  gzipped?: Promise<Buffer>;
}

/** Renders the status page on request, in slices so that scrapes run in between. */
export class RenderedPage {
  readonly #read: (isRefreshing: boolean) => StatusPage;
  readonly #clock: Clock;
  readonly #renderings = new Map<boolean, Rendering>();

  constructor(read: (isRefreshing: boolean) => StatusPage, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  /** At most a second old. @throws what reading or rendering throws. */
  bytes(isRefreshing: boolean, gzipped: boolean): Promise<Buffer> {
    const rendering = this.#rendering(isRefreshing);
    if (!gzipped) return rendering.plain;
    rendering.gzipped ??= rendering.plain.then((plain) => compress(plain));
    return rendering.gzipped;
  }

  #rendering(isRefreshing: boolean): Rendering {
    const now = this.#clock.monotonic();
    const known = this.#renderings.get(isRefreshing);
    if (known && now - known.startedAt < FRESH_MS) return known;
    const rendering = { startedAt: now, plain: this.#render(isRefreshing) };
    this.#renderings.set(isRefreshing, rendering);
    return rendering;
  }

  async #render(isRefreshing: boolean): Promise<Buffer> {
    const chunks: string[] = [];
    let sliceEnds = this.#clock.monotonic() + SLICE_MS;
    for (const piece of pagePieces(this.#read(isRefreshing))) {
      chunks.push(piece);
      if (this.#clock.monotonic() < sliceEnds) continue;
      await setImmediate();
      sliceEnds = this.#clock.monotonic() + SLICE_MS;
    }
    return Buffer.from(chunks.join(''));
  }
}
