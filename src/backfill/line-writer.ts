import { closeSync, openSync, writeSync } from 'node:fs';

/** Longer lines are written one by one. */
const BUFFER_BYTES = 64 * 1024;

/**
 * Collects lines in one buffer of a fixed size and appends them to a file. Strings that grow, and buffers made of them,
 * would leave more garbage than everything that is in memory.
 */
export class LineWriter {
  readonly file: string;
  #buffer: Buffer | undefined;
  #length = 0;
  #descriptor: number | undefined;

  constructor(file: string) {
    this.file = file;
  }

  add(line: string): void {
    this.#buffer ??= Buffer.allocUnsafeSlow(BUFFER_BYTES);
    // A UTF-16 code unit takes three bytes at most.
    if (this.#length + 3 * line.length > BUFFER_BYTES) this.#flush();
    if (3 * line.length > BUFFER_BYTES) this.#write(Buffer.from(line));
    else this.#length += this.#buffer.write(line, this.#length);
  }

  /** Writes the rest. The file exists afterwards, even if it is empty. */
  close(): void {
    this.#flush();
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    this.#buffer = undefined;
  }

  #flush(): void {
    this.#write(this.#buffer?.subarray(0, this.#length) ?? Buffer.alloc(0));
    this.#length = 0;
  }

  #write(bytes: Buffer): void {
    this.#descriptor ??= openSync(this.file, 'a');
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#descriptor, bytes, done);
  }
}
