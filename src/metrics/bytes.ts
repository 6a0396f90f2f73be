const FIRST_SIZE = 4_096;

/**
 * Text that is put together piece by piece as UTF-8. In one buffer of about the right size: a chunk for each piece and a
 * copy of them all would leave garbage of twice the size, which the process does not give back.
 */
export class Bytes {
  #buffer: Buffer;
  #length = 0;

  /** @param expected Bytes that it will be, roughly. */
  constructor(expected: number) {
    // A sixteenth more, so that what changes a little still fits.
    this.#buffer = Buffer.allocUnsafeSlow(Math.max(FIRST_SIZE, Math.ceil(expected * 1.0625)));
  }

  add(text: string): void {
    const end = this.#length + Buffer.byteLength(text);
    if (end > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.ceil(end * 1.5));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    this.#length += this.#buffer.write(text, this.#length);
  }

  /** What was added so far. */
  taken(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}
