import { gzipSync } from 'node:zlib';
import { type Clock, Nap, type Pause, pauseBetweenSlices } from '../lib/clock.ts';
import type { Milliseconds, MonotonicMs, UnixMs } from '../lib/time.ts';
import { type Format, OPENMETRICS_EOF } from './encode.ts';
import type { Family } from './family.ts';
import { type Compress, NOTHING, type Rendered, Rendering } from './rendered.ts';

/** Families that change together. */
export interface Section<Snapshot> {
  readonly name: string;
  families(snapshot: Snapshot): Family[] | Promise<Family[]>;
  /** When the families next change by themselves, after the snapshot; Infinity: never. */
  nextChange(snapshot: Snapshot): UnixMs;
}

/** Takes a third of the time of the default level, for 6 % more bytes. */
const LEVEL = { level: 3 };
/** Not in other threads: a megabyte takes two milliseconds, and each thread would keep the memory of zlib. */
const compressed: Compress = async (plain) => gzipSync(plain, LEVEL);

export interface ExpositionOptions {
  readonly compress: Compress;
  /** The loop runs at least this often, for what changes by itself, and so that a step of the clock is noticed. */
  readonly maxNapMs: Milliseconds;
  /** Default: those of any exporter. */
  readonly units?: readonly string[];
}

export const EXPOSITION_OPTIONS: ExpositionOptions = { compress: compressed, maxNapMs: 10_000 };
const RETRY_MS = 1_000;
/** Many values become stale one by one. Without a pause between renderings, this would use a full core. */
const PAUSE_MS = 250;

const END: Rendered = {
  text: NOTHING.text,
  openmetrics: { plain: [Buffer.from(OPENMETRICS_EOF)], gzipped: [gzipSync(OPENMETRICS_EOF)] },
};

/**
 * Renders families when they change and serves them as bytes. Changed sections are read from one snapshot and shown at one
 * moment, so a scrape sees one consistent state and copies nothing. Each section is compressed separately.
 */
export class Exposition<Snapshot> {
  readonly #sections: readonly Section<Snapshot>[];
  readonly #takeSnapshot: () => Snapshot;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #options: ExpositionOptions;
  /** When the families of each section change next. In the past: they have changed and are not rendered yet. */
  readonly #changesAt: Map<Section<Snapshot>, UnixMs>;
  #rendered: ReadonlyMap<Section<Snapshot>, Rendered> = new Map();
  #renderedAt: UnixMs = 0;
  #renderedUntil: MonotonicMs = Number.NEGATIVE_INFINITY;
  readonly #nap = new Nap();
  #refreshing: Promise<void> = Promise.resolve();

  /** `onError` is called when a section cannot be rendered. Its previous bytes stay, and the others are rendered. */
  constructor(
    sections: readonly Section<Snapshot>[],
    takeSnapshot: () => Snapshot,
    clock: Clock,
    onError: (error: unknown) => void,
    options: ExpositionOptions = EXPOSITION_OPTIONS,
  ) {
    this.#options = options;
    this.#sections = sections;
    this.#takeSnapshot = takeSnapshot;
    this.#clock = clock;
    this.#onError = onError;
    this.#changesAt = new Map(sections.map((section) => [section, 0]));
  }

  /** Marks sections whose families have changed; without names, all of them. */
  touch(...names: readonly string[]): void {
    const isMeant = ({ name }: Section<Snapshot>): boolean => names.length === 0 || names.includes(name);
    for (const section of this.#sections.filter(isMeant)) this.#changesAt.set(section, 0);
    this.#nap.wake();
  }

  /** The whole exposition as last rendered, in order; nothing is copied. */
  chunks(format: Format, gzipped: boolean): Buffer[] {
    const form = gzipped ? 'gzipped' : 'plain';
    const rendered = this.#sections.map((section) => this.#rendered.get(section) ?? NOTHING);
    return [...rendered, END].flatMap((one) => one[format][form]);
  }

  /** Renders what changed. Resolves when it is shown; await it once before `run`, so that the first scrape is complete. */
  refresh(): Promise<void> {
    this.#refreshing = this.#refreshing.then(() => this.#refresh());
    return this.#refreshing;
  }

  async #refresh(): Promise<void> {
    const now = this.#clock.now();
    const steppedBack = now < this.#renderedAt;
    const changed = this.#sections.filter((section) => steppedBack || now >= (this.#changesAt.get(section) ?? 0));
    this.#renderedAt = now;
    let taken: Snapshot | undefined;
    const snapshot = (): Snapshot => {
      taken ??= this.#takeSnapshot();
      return taken;
    };
    const pause = pauseBetweenSlices(this.#clock);
    const read = changed.map((section) => [section, this.#read(section, snapshot, pause)] as const);
    // They are awaited one by one. A rejection before its turn would be unhandled and end the process.
    for (const [, families] of read) families.catch(() => undefined);
    const next = new Map(this.#rendered);
    for (const [section, families] of read) {
      try {
        next.set(section, await this.#render(await families, this.#rendered.get(section) ?? NOTHING, pause));
      } catch (error) {
        this.#changesAt.set(section, this.#clock.now() + RETRY_MS);
        this.#onError(error);
      }
    }
    this.#rendered = next;
    if (changed.length > 0) this.#renderedUntil = this.#clock.monotonic();
  }

  /** Async, so that a section that throws fails alone. */
  async #read(section: Section<Snapshot>, snapshot: () => Snapshot, pause: Pause): Promise<Family[]> {
    this.#changesAt.set(section, section.nextChange(snapshot()));
    await pause();
    return section.families(snapshot());
  }

  async #render(families: readonly Family[], before: Rendered, pause: Pause): Promise<Rendered> {
    await pause();
    const rendering = new Rendering(before, pause);
    for (const family of families) await rendering.add(family, this.#options.units);
    return rendering.finish(this.#options.compress);
  }

  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#nap.wake(), { once: true });
    while (!signal.aborted) {
      await this.#nap.sleep(this.#clock, this.#untilNext());
      await this.refresh();
    }
  }

  #untilNext(): Milliseconds {
    const next = Math.min(...this.#changesAt.values()) - this.#clock.now();
    const pause = this.#renderedUntil + PAUSE_MS - this.#clock.monotonic();
    return Math.max(pause, Math.min(this.#options.maxNapMs, next));
  }
}
