import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { seedOf } from '../lib/random.ts';
import { LineWriter } from './line-writer.ts';

/** Records in several files. A group is in one file as a whole, and one file fits into memory. */
export class Partitions {
  readonly #files: readonly LineWriter[];
  #records = 0;

  /** @param folder An empty one. */
  constructor(folder: string, count: number) {
    this.#files = Array.from({ length: count }, (_, i) => new LineWriter(join(folder, `partition-${i}`)));
  }

  get records(): number {
    return this.#records;
  }

  add(group: string, record: unknown): void {
    this.#records += 1;
    this.#files[seedOf(group) % this.#files.length]?.add(`${JSON.stringify(record)}\n`);
  }

  /** Nothing can be added afterwards. */
  close(): void {
    for (const file of this.#files) file.close();
  }

  /** The records of one file after the other. */
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
