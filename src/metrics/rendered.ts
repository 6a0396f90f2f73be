import { Bytes } from './bytes.ts';
import { encodeHead, encodeSamples, type Format } from './encode.ts';
import type { Family } from './family.ts';

/** Compresses with gzip. */
export type Compress = (plain: Buffer) => Promise<Buffer>;

/** The bytes of some families in every form that is served. */
export type Rendered = Readonly<Record<Format, Forms>>;

interface Forms {
  /** In order. Large blocks are the same buffers in both formats. */
  readonly plain: readonly Buffer[];
  /** At most one. Each block is a member of its own: a gzip stream may have several (RFC 1952, 2.2). */
  readonly gzipped: readonly Buffer[];
}

const NO_BYTES: Forms = { plain: [], gzipped: [] };
export const NOTHING: Rendered = { text: NO_BYTES, openmetrics: NO_BYTES };

/** Smaller blocks are copied into one buffer for each format: few chunks for a scrape, and few members of gzip. */
const LARGE = 32 * 1024;

/** Both formats of some families. Most of their bytes are the lines of samples, which are kept and compressed once. */
export class Rendering {
  readonly #text: Blocks;
  readonly #openmetrics: Blocks;

  /** @param before The previous rendering, which is about as large. */
  constructor(before: Rendered) {
    this.#text = new Blocks(before.text);
    this.#openmetrics = new Blocks(before.openmetrics);
  }

  add(family: Family): void {
    const { samples } = family;
    if (samples.length === 0) return;
    const lines = encodeSamples(family, 'text');
    this.#text.add(encodeHead(family, 'text'));
    this.#openmetrics.add(encodeHead(family, 'openmetrics'));
    if (samples.some(({ at }) => at !== undefined)) {
      this.#text.add(lines);
      this.#openmetrics.add(encodeSamples(family, 'openmetrics'));
    } else if (lines.length < LARGE) {
      this.#text.add(lines);
      this.#openmetrics.add(lines);
    } else {
      const block = Buffer.from(lines);
      this.#text.append(block);
      this.#openmetrics.append(block);
    }
  }

  /** One block after the other, so that compression takes only one thread. */
  async finish(compress: Compress): Promise<Rendered> {
    const compressed = new Map<Buffer, Buffer>();
    const formsOf = async (plain: readonly Buffer[]): Promise<Forms> => {
      const members: Buffer[] = [];
      for (const block of plain) {
        const member = compressed.get(block) ?? (await compress(block));
        compressed.set(block, member);
        members.push(member);
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
