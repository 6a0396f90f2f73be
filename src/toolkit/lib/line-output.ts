import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { systemClock, within } from './clock.ts';
import { codeOf } from './error-code.ts';

const MAX_WAITING_LINES = 1_000;
const RETRY_MS = 50;
const END_WITHIN_MS = 2_000;

/**
 * Standard output or standard error for a program that continues without it. A write never throws, and never waits for a
 * reader. If the reader is slow, lines wait in memory, up to a limit. Every other line that cannot be written is dropped.
 */
export class LineOutput {
  dropped = 0;
  /** Called when writes succeed again, with the number of dropped lines. */
  onRecovery: (lines: number) => void = () => undefined;
  readonly #fd: number;
  #waiting: Buffer[] = [];
  /** Whether a part of the first waiting line is written. */
  #isCut = false;
  /** Pending while lines wait for the reader. */
  #catchingUp: Promise<void> | undefined;
  #reported = 0;

  /** @param fd of process.stdout or process.stderr: when Node makes the stream of a socket, it makes it non-blocking */
  constructor(fd: number) {
    this.#fd = nonBlocking(fd);
  }

  /** @param text a line with its end */
  write(text: string): void {
    if (this.#waiting.length < MAX_WAITING_LINES) this.#waiting.push(Buffer.from(text));
    else this.dropped += 1;
    if (!this.#catchingUp && !this.#flush()) this.#catchingUp ??= this.#catchUp();
  }

  /** Waits until the reader has taken all lines. A reader that takes too long loses them. */
  async end(): Promise<void> {
    if (this.#catchingUp) await within(systemClock, END_WITHIN_MS, this.#catchingUp, () => undefined);
    this.#waiting = [];
  }

  async #catchUp(): Promise<void> {
    do await systemClock.sleep(RETRY_MS);
    while (!this.#flush());
    this.#catchingUp = undefined;
  }

  /** Returns false if the reader is behind. */
  #flush(): boolean {
    try {
      for (let line = this.#next(); line; line = this.#next()) {
        const rest = line.subarray(writeSync(this.#fd, line));
        this.#isCut = rest.length > 0;
        this.#waiting.splice(0, 1, ...(this.#isCut ? [rest] : []));
      }
    } catch (error) {
      if (codeOf(error) === 'EAGAIN') return false;
      // The rest of a line is kept: without it, the next line would be appended to a half one.
      this.dropped += this.#waiting.splice(Number(this.#isCut)).length;
    }
    return true;
  }

  #next(): Buffer | undefined {
    const lines = this.dropped - this.#reported;
    if (this.#waiting.length === 0 && lines > 0) {
      this.#reported = this.dropped;
      this.onRecovery(lines);
      // The report was dropped too.
      if (this.dropped > this.#reported) this.#reported -= lines;
    }
    return this.#waiting[0];
  }
}

/** A descriptor whose writes fail with EAGAIN when the reader is behind. */
function nonBlocking(fd: number): number {
  try {
    // Writes to a file wait for no reader, and continue at the position that other programs share.
    if (fstatSync(fd).isFile()) return fd;
    // Opened again: programs that use the same pipe or terminal could make `fd` blocking, and Node leaves a terminal so.
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    // A socket, or a pipe of another user.
    return fd;
  }
}
