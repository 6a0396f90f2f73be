import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeHead, OPENMETRICS_EOF, sampleLine } from '../metrics/encode.ts';
import type { FamilyHead, Sample } from '../metrics/family.ts';
import { LineWriter } from './line-writer.ts';

const COPY_BYTES = 256 * 1024;

interface SpooledFamily {
  readonly head: FamilyHead;
  readonly lines: LineWriter;
}

/** Takes parts of families in any order, and writes whole families as one OpenMetrics exposition. */
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
    let spooled = this.#families.get(head.name);
    for (const sample of samples) {
      spooled ??= this.#begin(head);
      spooled.lines.add(sampleLine(head.name, sample, 'openmetrics'));
      this.#samples += 1;
    }
  }

  #begin({ name, type, help }: FamilyHead): SpooledFamily {
    const lines = new LineWriter(join(this.#folder, `family-${this.#families.size}`));
    const spooled = { head: { name, type, help }, lines };
    this.#families.set(name, spooled);
    return spooled;
  }

  /** @returns The bytes written. */
  async writeTo(file: string): Promise<number> {
    const handle = await open(file, 'w');
    const buffer = Buffer.allocUnsafeSlow(COPY_BYTES);
    try {
      for (const { head, lines } of this.#families.values()) {
        lines.close();
        await handle.appendFile(encodeHead(head, 'openmetrics'));
        await copy(lines.file, handle, buffer);
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
