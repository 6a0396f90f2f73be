import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { seedOf } from '../lib/random.ts';
import { LineFile } from './line-file.ts';

/** Records in files by the group that they belong to, so that a part of them fits into memory with all of its groups. */
export class Buckets {
  readonly #files: readonly LineFile[];
  #records = 0;

  /** @param folder An empty one. */
  constructor(folder: string, count: number) {
    this.#files = Array.from({ length: count }, (_, i) => new LineFile(join(folder, `bucket-${i}`)));
  }

  get records(): number {
    return this.#records;
  }

  add(group: string, record: unknown): void {
    this.#records += 1;
    this.#files[seedOf(group) % this.#files.length]?.add(`${JSON.stringify(record)}\n`);
  }

  /** Nothing is added any more. */
  close(): void {
    for (const file of this.#files) file.close();
  }

  /** The records of one bucket after the other. */
  async *read(): AsyncGenerator<unknown[]> {
    for (const { file } of this.#files) {
      const text = await readFile(file, 'utf8');
      yield text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as unknown);
    }
  }
}
