import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import type { Clock } from '../lib/clock.ts';
import { encodeFamilies, type Format, OPENMETRICS_EOF } from './encode.ts';
import type { Family } from './family.ts';

/** Families that change together. */
export interface Part {
  readonly name: string;
  families(): Family[] | Promise<Family[]>;
  /** Unix ms after now at which the families change by themselves; Infinity: never. */
  nextChange(): number;
}

/** The bytes of a part in every form that is served. */
type Rendered = Readonly<Record<Format, { readonly plain: Buffer; readonly gzipped: Buffer }>>;

const compress = promisify(gzip);
/** Also without anything to do, so that a step of the clock is noticed. */
const LONGEST_NAP_MS = 1_000;
const RETRY_MS = 1_000;

const END: Rendered = {
  text: { plain: Buffer.alloc(0), gzipped: Buffer.alloc(0) },
  openmetrics: { plain: Buffer.from(OPENMETRICS_EOF), gzipped: gzipSync(OPENMETRICS_EOF) },
};

/**
 * Renders families when they change and serves them as bytes. Parts that changed are read at one moment and shown at one
 * moment, so a scrape sees one consistent snapshot and costs a join of buffers. Parts are compressed apart: a gzip stream
 * may have several members (RFC 1952, 2.2).
 */
export class Exposition {
  readonly #parts: readonly Part[];
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #changesAt = new Map<Part, number>();
  readonly #touched: Set<Part>;
  #rendered: ReadonlyMap<Part, Rendered> = new Map();
  #renderedAt = 0;
  #wake: () => void = () => undefined;

  /** `onError` is told when a part cannot be rendered; what was shown of it before stays, the others go on. */
  constructor(parts: readonly Part[], clock: Clock, onError: (error: unknown) => void) {
    this.#parts = parts;
    this.#clock = clock;
    this.#onError = onError;
    this.#touched = new Set(parts);
  }

  /** The families of these parts are others than those last rendered. */
  touch(...names: readonly string[]): void {
    for (const part of this.#parts) if (names.includes(part.name)) this.#touched.add(part);
    this.#wake();
  }

  /** The whole exposition, as last rendered. */
  body(format: Format, gzipped: boolean): Buffer {
    const form = gzipped ? 'gzipped' : 'plain';
    const parts = this.#parts.map((part) => this.#rendered.get(part)?.[format][form] ?? Buffer.alloc(0));
    return Buffer.concat([...parts, END[format][form]]);
  }

  /** Renders what changed; await it once before `run`, so that the first scrape is complete. */
  async refresh(): Promise<void> {
    const now = this.#clock.now();
    const steppedBack = now < this.#renderedAt;
    const changed = this.#parts.filter(
      (part) => steppedBack || this.#touched.has(part) || now >= (this.#changesAt.get(part) ?? 0),
    );
    this.#touched.clear();
    this.#renderedAt = now;
    const rendered = await Promise.all(changed.map((part) => this.#render(part)));
    const next = new Map(this.#rendered);
    for (const [i, part] of changed.entries()) {
      const bytes = rendered[i];
      if (bytes) next.set(part, bytes);
    }
    this.#rendered = next;
  }

  /** Reads the part at once and renders it later. Undefined: that failed, is told, and tried again soon. */
  async #render(part: Part): Promise<Rendered | undefined> {
    try {
      this.#changesAt.set(part, part.nextChange());
      return await render(await part.families());
    } catch (error) {
      this.#changesAt.set(part, this.#clock.now() + RETRY_MS);
      this.#onError(error);
      return undefined;
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#wake(), { once: true });
    while (!signal.aborted) {
      if (this.#touched.size === 0) await this.#nap();
      await this.refresh();
    }
  }

  async #nap(): Promise<void> {
    const next = Math.min(...this.#changesAt.values()) - this.#clock.now();
    const alarm = new AbortController();
    this.#wake = () => alarm.abort();
    await this.#clock.sleep(Math.max(0, Math.min(LONGEST_NAP_MS, next)), alarm.signal).catch(() => undefined);
  }
}

async function render(families: readonly Family[]): Promise<Rendered> {
  const [text, openmetrics] = await Promise.all([renderAs(families, 'text'), renderAs(families, 'openmetrics')]);
  return { text, openmetrics };
}

async function renderAs(families: readonly Family[], format: Format): Promise<Rendered[Format]> {
  const plain = Buffer.from(encodeFamilies(families, format));
  return { plain, gzipped: plain.length === 0 ? plain : await compress(plain) };
}
