const FIRST_SIZE = 4_096;

/**
 * Builds UTF-8 text piece by piece in one buffer of about the right size. Separate chunks and their final copy would
 * leave garbage of twice the size, which the process does not return to the system.
 */
export class Bytes {
  #buffer: Buffer;
  #length = 0;

  /** @param expected The approximate size in bytes. */
  constructor(expected: number) {
    // A sixteenth more, so that small changes still fit.
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

  /** The text so far. */
  written(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}
