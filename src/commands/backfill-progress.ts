import { type Progress, progressLine, shareOf } from '../backfill/progress.ts';
import type { Clock } from '../lib/clock.ts';
import type { Milliseconds, UnixMs } from '../lib/time.ts';
import { roughSpan } from '../lib/words.ts';

export interface Terminal {
  readonly isTTY: boolean;
  write(text: string): void;
}

const REFRESH_MS = 1_000;

function waitLine(reason: string, ms: Milliseconds): string {
  return `waiting ${roughSpan(ms)}: ${reason}\n`;
}

/** Writes a line for each reason to wait until there is progress to show. */
export function waitLines(terminal: Terminal, clock: Clock): (reason: string, until: UnixMs) => void {
  let last: string | undefined;
  return (reason, until) => {
    if (reason !== last) terminal.write(waitLine(reason, until - clock.now()));
    last = reason;
  };
}

/** Shows the progress of a run: a line that is redrawn on a terminal, elsewhere a line after each tenth. */
export class ProgressReport {
  readonly #terminal: Terminal;
  readonly #clock: Clock;
  readonly #read: () => Progress;
  readonly #end = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #tenths = 0;
  #waiting: { reason: string; until: UnixMs } | undefined;

  constructor(terminal: Terminal, clock: Clock, read: () => Progress) {
    this.#terminal = terminal;
    this.#clock = clock;
    this.#read = read;
  }

  start(): void {
    if (this.#terminal.isTTY) this.#loop = this.#redraw();
  }

  onPage(): void {
    this.#waiting = undefined;
    if (this.#terminal.isTTY) return;
    const tenths = Math.floor(10 * shareOf(this.#read()));
    if (tenths <= this.#tenths) return;
    this.#tenths = tenths;
    this.#terminal.write(`${progressLine(this.#read())}\n`);
  }

  onWait(reason: string, until: UnixMs): void {
    const isNew = this.#waiting?.reason !== reason;
    this.#waiting = { reason, until };
    if (this.#terminal.isTTY || !isNew) return;
    this.#terminal.write(waitLine(reason, until - this.#clock.now()));
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#loop;
  }

  async #redraw(): Promise<void> {
    for (;;) {
      const now = this.#clock.now();
      const waiting = this.#waiting && { reason: this.#waiting.reason, ms: Math.max(0, this.#waiting.until - now) };
      const line = progressLine({ ...this.#read(), ...(waiting ? { waiting } : {}) });
      this.#terminal.write(`\r\x1b[2K${line}`);
      try {
        await this.#clock.sleep(REFRESH_MS, this.#end.signal);
      } catch {
        // Stops the display; the last progress stays on the screen.
        this.#terminal.write(`\r\x1b[2K${progressLine(this.#read())}\n`);
        return;
      }
    }
  }
}
