import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createInterface } from 'node:readline';

/** A page as it is kept. */
export interface KeptPage<R = unknown> {
  /** Leads to the next page; null: this is the last one. */
  readonly next: string | null;
  /** Why there is no next page, where the service did not say so. */
  readonly ending?: string;
  /** Records that could not be read or are of another time. */
  readonly bad: number;
  readonly records: readonly R[];
}

const NEWLINE = 0x0a;
const CHUNK_BYTES = 64 * 1024;

/**
 * The pages of one slice, a line each, appended as they come. Where the sequence goes on stands in the line of the last
 * page: data and journal are one, so whatever interrupts the writing, both are lost or neither. A line without its end is
 * one that was cut off.
 */
export class PageLog {
  readonly #handle: FileHandle;
  #last: Pick<KeptPage, 'next' | 'ending'> | undefined;

  private constructor(handle: FileHandle, last: Pick<KeptPage, 'next' | 'ending'> | undefined) {
    this.#handle = handle;
    this.#last = last;
  }

  static async open(file: string): Promise<PageLog> {
    const handle = await open(file, 'a+');
    try {
      const { start, end } = await lastLine(handle);
      await handle.truncate(end);
      if (end === 0) return new PageLog(handle, undefined);
      const line = Buffer.alloc(end - start);
      await handle.read(line, 0, line.length, start);
      return new PageLog(handle, JSON.parse(line.toString()) as KeptPage);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get isEmpty(): boolean {
    return this.#last === undefined;
  }

  get isDone(): boolean {
    return this.#last?.next === null;
  }

  /** Where to go on; undefined: from the beginning. */
  get next(): string | undefined {
    return this.#last?.next ?? undefined;
  }

  /** Resolves when the page would survive a loss of power: no later one is then kept without it. */
  async append(page: KeptPage): Promise<void> {
    await this.#handle.appendFile(`${JSON.stringify(page)}\n`);
    await this.#handle.datasync();
    this.#last = { next: page.next };
  }

  /** Forgets everything. */
  async clear(): Promise<void> {
    await this.#handle.truncate(0);
    this.#last = undefined;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

/** Where the last whole line of a file lies, in bytes; `end` is behind its newline. */
async function lastLine(handle: FileHandle): Promise<{ start: number; end: number }> {
  let offset = (await handle.stat()).size;
  let tail: Buffer = Buffer.alloc(0);
  for (;;) {
    const last = tail.lastIndexOf(NEWLINE);
    const before = last > 0 ? tail.lastIndexOf(NEWLINE, last - 1) : -1;
    if (before !== -1) return { start: offset + before + 1, end: offset + last + 1 };
    if (offset === 0) return { start: 0, end: last + 1 };
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, offset));
    offset -= chunk.length;
    await handle.read(chunk, 0, chunk.length, offset);
    tail = Buffer.concat([chunk, tail]);
  }
}

/** The pages of a slice in the order in which they came. */
export async function* readPages<R>(file: string): AsyncGenerator<KeptPage<R>> {
  const input = createReadStream(file);
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      yield JSON.parse(line) as KeptPage<R>;
    }
  } finally {
    input.destroy();
  }
}
