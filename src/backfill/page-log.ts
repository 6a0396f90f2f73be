import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createInterface } from 'node:readline';

/** A page as it is kept. */
export interface KeptPage<R = unknown> {
  /** The cursor of the next page; null: this is the last one. */
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
 * The pages of one slice, a line each, appended as they come. Each line holds the cursor of the next page: records and
 * cursor are kept together, or not at all. A line without a newline is one whose writing was interrupted; it is removed.
 */
export class PageLog {
  readonly #file: string;
  readonly #handle: FileHandle;
  #last: Pick<KeptPage, 'next'> | undefined;

  private constructor(file: string, handle: FileHandle, last: Pick<KeptPage, 'next'> | undefined) {
    this.#file = file;
    this.#handle = handle;
    this.#last = last;
  }

  static async open(file: string): Promise<PageLog> {
    const handle = await open(file, 'a+');
    try {
      const { start, end } = await lastLine(handle);
      await handle.truncate(end);
      if (end === 0) return new PageLog(file, handle, undefined);
      const line = Buffer.alloc(end - start);
      await handle.read(line, 0, line.length, start);
      return new PageLog(file, handle, JSON.parse(line.toString()) as KeptPage);
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

  /** The cursor to go on with; undefined: begin with the first page. */
  get next(): string | undefined {
    return this.#last?.next ?? undefined;
  }

  /** Resolves when the page would survive a loss of power. */
  async append(page: KeptPage): Promise<void> {
    await this.#handle.appendFile(`${JSON.stringify(page)}\n`);
    await this.#handle.datasync();
    this.#last = { next: page.next };
  }

  /** The pages so far. */
  pages(): AsyncGenerator<KeptPage> {
    return readPages(this.#file);
  }

  /** Removes all pages. */
  async clear(): Promise<void> {
    await this.#handle.truncate(0);
    this.#last = undefined;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

/** The position of the last whole line in a file, in bytes; `end` is behind its newline. */
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
