import { closeSync, openSync, writeSync } from 'node:fs';

/** A line longer than this is written by itself. */
const BUFFER_BYTES = 64 * 1024;

/**
 * Collects lines and appends them to a file. In one buffer of a fixed size: strings that grow, and buffers that are made of
 * them, leave more garbage than all of what is held.
 */
export class LineFile {
  readonly file: string;
  #buffer: Buffer | undefined;
  #length = 0;
  #descriptor: number | undefined;

  constructor(file: string) {
    this.file = file;
  }

  add(line: string): void {
    this.#buffer ??= Buffer.allocUnsafeSlow(BUFFER_BYTES);
    // A character is three bytes at most.
    if (this.#length + 3 * line.length > BUFFER_BYTES) this.#flush();
    if (3 * line.length > BUFFER_BYTES) this.#write(Buffer.from(line));
    else this.#length += this.#buffer.write(line, this.#length);
  }

  /** Writes what is left, also where there is nothing: the file is there. */
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
