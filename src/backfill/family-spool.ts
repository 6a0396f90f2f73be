import { appendFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeHead, OPENMETRICS_EOF, sampleLine } from '../toolkit/exposition/encode.ts';
import type { FamilyHead, Sample } from '../toolkit/exposition/family.ts';

const CHUNK = 64 * 1024;

interface SpooledFamily {
  readonly head: FamilyHead;
  /** Its lines so far. */
  readonly file: string;
}

/** Accepts parts of families in any order, and writes complete families as one OpenMetrics exposition. */
export class FamilySpool {
  readonly #folder: string;
  readonly #families = new Map<string, SpooledFamily>();
  #samples = 0;

  /** @param folder An empty one. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  get samples(): number {
    return this.#samples;
  }

  /** @param samples Whole series, each in ascending time. */
  add(head: FamilyHead, samples: Iterable<Sample>): void {
    let lines = '';
    for (const sample of samples) {
      lines += sampleLine(head.name, sample, 'openmetrics');
      this.#samples += 1;
      if (lines.length < CHUNK) continue;
      this.#append(head, lines);
      lines = '';
    }
    if (lines !== '') this.#append(head, lines);
  }

  #append({ name, type, help }: FamilyHead, lines: string): void {
    const file = join(this.#folder, `family-${this.#families.size}`);
    const family = this.#families.get(name) ?? { head: { name, type, help }, file };
    this.#families.set(name, family);
    appendFileSync(family.file, lines);
  }

  /** @returns The bytes written. */
  async writeTo(output: string): Promise<number> {
    const handle = await open(output, 'w');
    const buffer = Buffer.allocUnsafeSlow(4 * CHUNK);
    try {
      for (const { head, file } of this.#families.values()) {
        await handle.appendFile(encodeHead(head, 'openmetrics'));
        await copy(file, handle, buffer);
      }
      await handle.appendFile(OPENMETRICS_EOF);
      await handle.sync();
      return (await handle.stat()).size;
    } finally {
      await handle.close();
    }
  }
}

/** Uses one buffer: a stream would make one for each chunk of a file of hundreds of megabytes. */
async function copy(from: string, to: FileHandle, buffer: Buffer): Promise<void> {
  const source = await open(from);
  try {
    for (;;) {
      const { bytesRead } = await source.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return;
      await to.appendFile(buffer.subarray(0, bytesRead));
    }
  } finally {
    await source.close();
  }
}
