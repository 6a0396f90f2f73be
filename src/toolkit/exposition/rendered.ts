import type { Pause } from '../lib/clock.ts';
import type { UnixMs } from '../lib/time.ts';
import { encodeHead, encodeSamples, type Format, LabelTexts, PIECE_LINES } from './encode.ts';
import type { Family } from './family.ts';

export type Compress = (plain: Buffer) => Promise<Buffer>;

/** The bytes of some families in every form that is served. */
export type Rendered = Readonly<Record<Format, Forms>>;

interface Forms {
  /** Both formats share the buffers of large blocks. */
  readonly plain: readonly Buffer[];
  /** At most one. Each block is a member of its own: a gzip stream may have several (RFC 1952, 2.2). */
  readonly gzipped: readonly Buffer[];
}

const NO_BYTES: Forms = { plain: [], gzipped: [] };
export const NOTHING: Rendered = { text: NO_BYTES, openmetrics: NO_BYTES };

/**
 * Both formats of some families. They share the lines of large families, which are compressed once. Small families are copied
 * into one buffer for each format, so that a scrape has few chunks and gzip few members.
 */
export class Rendering {
  /** The earliest `until` of the samples. */
  until: UnixMs = Number.POSITIVE_INFINITY;
  readonly #text: Blocks;
  readonly #openmetrics: Blocks;
  readonly #pause: Pause;
  readonly #labels = new LabelTexts();

  /**
   * @param before The previous rendering, which is about as large.
   * @param pause Called after each piece of at most some hundred lines.
   */
  constructor(before: Rendered, pause: Pause = () => undefined) {
    this.#text = new Blocks(before.text);
    this.#openmetrics = new Blocks(before.openmetrics);
    this.#pause = pause;
  }

  async add(given: Family, units?: readonly string[]): Promise<void> {
    // Read once, because a family may compute them.
    const { name, type, help, samples } = given;
    if (samples.length === 0) return;
    const family = { name, type, help, samples };
    for (const { until = this.until } of samples) if (until < this.until) this.until = until;
    this.#text.add(encodeHead(family, 'text', units));
    this.#openmetrics.add(encodeHead(family, 'openmetrics', units));
    let block: Bytes | undefined;
    for (const lines of encodeSamples(family, this.#labels)) {
      if (samples.length < PIECE_LINES) {
        this.#text.add(lines);
        this.#openmetrics.add(lines);
      } else {
        // All lines are about as long as those of the first piece.
        block ??= new Bytes((Buffer.byteLength(lines) / PIECE_LINES) * samples.length);
        block.add(lines);
      }
      await this.#pause();
    }
    if (!block) return;
    const written = block.written();
    this.#text.append(written);
    this.#openmetrics.append(written);
  }

  async finish(compress: Compress): Promise<Rendered> {
    const compressed = new Map<Buffer, Buffer>();
    const formsOf = async (plain: readonly Buffer[]): Promise<Forms> => {
      const members: Buffer[] = [];
      for (const block of plain) {
        const member = compressed.get(block) ?? (await compress(block));
        compressed.set(block, member);
        members.push(member);
        await this.#pause();
      }
      return { plain, gzipped: members.length > 1 ? [Buffer.concat(members)] : members };
    };
    return { text: await formsOf(this.#text.finish()), openmetrics: await formsOf(this.#openmetrics.finish()) };
  }
}

/** One format: copied text, and buffers between it. */
class Blocks {
  readonly #before: readonly Buffer[];
  readonly #blocks: Buffer[] = [];
  #copied: Bytes | undefined;

  constructor({ plain }: Forms) {
    this.#before = plain;
  }

  add(text: string): void {
    this.#copied ??= new Bytes(this.#before[this.#blocks.length]?.length ?? 0);
    this.#copied.add(text);
  }

  append(block: Buffer): void {
    this.#close();
    this.#blocks.push(block);
  }

  finish(): readonly Buffer[] {
    this.#close();
    return this.#blocks;
  }

  #close(): void {
    if (this.#copied) this.#blocks.push(this.#copied.written());
    this.#copied = undefined;
  }
}

const FIRST_SIZE = 4_096;

/**
 * Builds UTF-8 text piece by piece in one buffer of about the right size. Separate chunks and their final copy would
 * leave garbage of twice the size, which the process does not return to the system.
 */
class Bytes {
  #buffer: Buffer;
  #length = 0;

  /** @param expected The approximate size in bytes. */
  constructor(expected: number) {
    // A sixteenth more, so that small changes still fit.
    this.#buffer = Buffer.allocUnsafeSlow(Math.max(FIRST_SIZE, Math.ceil(expected * 1.0625)));
  }

  add(text: string): void {
    const end = this.#length + Buffer.byteLength(text);
    if (end > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.ceil(end * 1.5));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    this.#length += this.#buffer.write(text, this.#length);
  }

  written(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}
