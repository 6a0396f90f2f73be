import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeHead, OPENMETRICS_EOF, sampleLine } from '../metrics/encode.ts';
import type { FamilyHead, Sample } from '../metrics/family.ts';
import { LineFile } from './line-file.ts';

interface Spooled {
  readonly head: FamilyHead;
  readonly lines: LineFile;
}

/** Takes families piece by piece, in any order, and writes them one after the other as one OpenMetrics exposition. */
export class FamilySpool {
  readonly #folder: string;
  readonly #families = new Map<string, Spooled>();
  #samples = 0;

  /** @param folder An empty one. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  get samples(): number {
    return this.#samples;
  }

  /** Whole series, each in ascending time. */
  add(head: FamilyHead, samples: Iterable<Sample>): void {
    let spooled = this.#families.get(head.name);
    for (const sample of samples) {
      spooled ??= this.#begin(head);
      spooled.lines.add(sampleLine(head.name, sample, 'openmetrics'));
      this.#samples += 1;
    }
  }

  #begin({ name, type, help }: FamilyHead): Spooled {
    const lines = new LineFile(join(this.#folder, `family-${this.#families.size}`));
    const spooled = { head: { name, type, help }, lines };
    this.#families.set(name, spooled);
    return spooled;
  }

  /** @returns The bytes written. */
  async writeTo(file: string): Promise<number> {
    const handle = await open(file, 'w');
    try {
      for (const { head, lines } of this.#families.values()) {
        lines.close();
        await handle.appendFile(encodeHead(head, 'openmetrics'));
        for await (const chunk of createReadStream(lines.file)) await handle.appendFile(chunk as Buffer);
      }
      await handle.appendFile(OPENMETRICS_EOF);
      await handle.sync();
      return (await handle.stat()).size;
    } finally {
      await handle.close();
    }
  }
}
