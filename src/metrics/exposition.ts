import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type Clock, Nap } from '../lib/clock.ts';
import type { Milliseconds, MonotonicMs, UnixMs } from '../lib/time.ts';
import { type Format, OPENMETRICS_EOF } from './encode.ts';
import type { Family } from './family.ts';
import { type Compress, NOTHING, type Rendered, Rendering } from './rendered.ts';

/** Families that change together. */
export interface Part {
  readonly name: string;
  families(): Family[] | Promise<Family[]>;
  /** When the families next change by themselves, after now; Infinity: never. */
  nextChange(): UnixMs;
}

/** Takes a third of the time of the default level, for 6 % more bytes. */
const LEVEL = { level: 3 };
/** Not in other threads: a megabyte takes two milliseconds, and each thread would keep the memory of zlib. */
const compressed: Compress = async (plain) => gzipSync(plain, LEVEL);

export interface ExpositionOptions {
  readonly compress: Compress;
  /** The loop runs at least this often, so that a step of the clock is noticed. */
  readonly maxNapMs: Milliseconds;
}

export const EXPOSITION_OPTIONS: ExpositionOptions = { compress: compressed, maxNapMs: 1_000 };
const RETRY_MS = 1_000;
/** The values of a fleet become stale one by one. Without a pause between renderings, this would use a full core. */
const PAUSE_MS = 250;
/** How long rendering may block the event loop, plus at most one piece of a family. */
const SLICE_MS = 5;

const END: Rendered = {
  text: NOTHING.text,
  openmetrics: { plain: [Buffer.from(OPENMETRICS_EOF)], gzipped: [gzipSync(OPENMETRICS_EOF)] },
};

/**
 * Renders families when they change and serves them as bytes. Changed parts are read at one moment and shown at one
 * moment, so a scrape sees one consistent snapshot and only joins buffers. Each part is compressed separately.
 */
export class Exposition {
  readonly #parts: readonly Part[];
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #options: ExpositionOptions;
  readonly #changesAt = new Map<Part, UnixMs>();
  readonly #touched: Set<Part>;
  #rendered: ReadonlyMap<Part, Rendered> = new Map();
  #renderedAt: UnixMs = 0;
  #renderedUntil: MonotonicMs = Number.NEGATIVE_INFINITY;
  readonly #nap = new Nap();
  /** Called when everything that is touched now is shown. */
  #waiting: (() => void)[] = [];
  #hasEnded = false;

  /** `onError` is called when a part cannot be rendered. Its previous bytes stay, and the other parts are rendered. */
  constructor(
    parts: readonly Part[],
    clock: Clock,
    onError: (error: unknown) => void,
    options: ExpositionOptions = EXPOSITION_OPTIONS,
  ) {
    this.#options = options;
    this.#parts = parts;
    this.#clock = clock;
    this.#onError = onError;
    this.#touched = new Set(parts);
  }

  /** Marks parts whose families have changed. */
  touch(...names: readonly string[]): void {
    for (const part of this.#parts) if (names.includes(part.name)) this.#touched.add(part);
    this.#nap.wake();
  }

  /** Resolves when everything that was touched is shown, or when rendering has ended. */
  async shown(): Promise<void> {
    if (!this.#hasEnded) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The whole exposition as last rendered, in order; nothing is copied. */
  chunks(format: Format, gzipped: boolean): Buffer[] {
    const form = gzipped ? 'gzipped' : 'plain';
    const parts = this.#parts.map((part) => this.#rendered.get(part) ?? NOTHING);
    return [...parts, END].flatMap((rendered) => rendered[format][form]);
  }

  /** Renders what changed; await it once before `run`, so that the first scrape is complete. */
  async refresh(): Promise<void> {
    const now = this.#clock.now();
    const steppedBack = now < this.#renderedAt;
    const changed = this.#parts.filter(
      (part) => steppedBack || this.#touched.has(part) || now >= (this.#changesAt.get(part) ?? 0),
    );
    this.#touched.clear();
    const waiting = this.#waiting.splice(0);
    this.#renderedAt = now;
    const read = changed.map((part) => [part, this.#read(part)] as const);
    // They are awaited one by one. A rejection before its turn would be unhandled and end the process.
    for (const [, families] of read) families.catch(() => undefined);
    const next = new Map(this.#rendered);
    for (const [part, families] of read) {
      try {
        next.set(part, await this.#render(await families, this.#rendered.get(part) ?? NOTHING));
      } catch (error) {
        this.#changesAt.set(part, this.#clock.now() + RETRY_MS);
        this.#onError(error);
      }
    }
    this.#rendered = next;
    if (changed.length > 0) this.#renderedUntil = this.#clock.monotonic();
    for (const resolve of waiting) resolve();
  }

  /** Async, so that a part that throws fails alone. Runs synchronously up to the part's first await. */
  async #read(part: Part): Promise<Family[]> {
    this.#changesAt.set(part, part.nextChange());
    return part.families();
  }

  /** Renders in slices, so that scrapes and other work run between. */
  async #render(families: readonly Family[], before: Rendered): Promise<Rendered> {
    let sliceEnds = this.#clock.monotonic() + SLICE_MS;
    const rendering = new Rendering(before, () => {
      if (this.#clock.monotonic() < sliceEnds) return undefined;
      return setImmediate().then(() => {
        sliceEnds = this.#clock.monotonic() + SLICE_MS;
      });
    });
    for (const family of families) await rendering.add(family);
    return rendering.finish(this.#options.compress);
  }

  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#nap.wake(), { once: true });
    while (!signal.aborted) {
      if (this.#touched.size === 0) await this.#nap.sleep(this.#clock, this.#untilNext());
      await this.refresh();
    }
    this.#hasEnded = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #untilNext(): Milliseconds {
    const next = Math.min(...this.#changesAt.values()) - this.#clock.now();
    const pause = this.#renderedUntil + PAUSE_MS - this.#clock.monotonic();
    return Math.max(pause, Math.min(this.#options.maxNapMs, next));
  }
}
