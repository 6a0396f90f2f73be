import type { Clock } from '../toolkit/lib/clock.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import { span } from '../toolkit/lib/words.ts';
import type { Plan, Slice } from './plan.ts';

/** Counts the requests of this run, and those that are still expected. */
export class Meter {
  #done = 0;
  /** By slice: the requests that are still expected. */
  readonly #left: Map<number, number>;

  /** @param left The parts of begun slices that an earlier run left. */
  constructor({ slices }: Plan, left: ReadonlyMap<number, number>) {
    this.#left = new Map(slices.map(({ id, expected }) => [id, left.get(id) ?? expected]));
  }

  get done(): number {
    return this.#done;
  }

  /** Requests of this run in all. */
  get expected(): number {
    return this.#done + [...this.#left.values()].reduce((total, left) => total + left, 0);
  }

  /** A page was read. @param left The requests that its slice is still expected to take. */
  page({ id }: Slice, left: number): void {
    this.#done += 1;
    this.#left.set(id, left);
  }
}

/** The progress of a run. */
export interface Progress {
  /** Requests of this run. */
  readonly done: number;
  /** All requests of this run, the next ones included. */
  readonly expected: number;
  readonly elapsedMs: Milliseconds;
  /** Requests per second that the plan allows. */
  readonly perSecond: number;
  /** Why no request is sent now, and for how much longer. */
  readonly waiting?: { readonly reason: string; readonly ms: Milliseconds };
}

const BAR_WIDTH = 24;

/** One line: bar, requests done and expected, time left. */
export function progressLine(progress: Progress): string {
  const { done, expected, waiting } = progress;
  const share = shareOf(progress);
  const filled = Math.round(BAR_WIDTH * share);
  const bar = `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}]`;
  const percent = `${String(Math.floor(100 * share)).padStart(3)} %`;
  const count = `${done} of ${expected} requests`;
  const rest = waiting ? `waiting ${span(waiting.ms)}: ${waiting.reason}` : `${span(leftMs(progress))} left`;
  return `${bar} ${percent}  ${count}, ${rest}`;
}

function shareOf({ done, expected }: Progress): number {
  return expected === 0 ? 1 : Math.min(1, done / expected);
}

/** Estimated from the rate so far; at first from the rate that the plan allows. */
function leftMs({ done, expected, elapsedMs, perSecond }: Progress): Milliseconds {
  const left = Math.max(0, expected - done);
  return done >= 10 ? (left * elapsedMs) / done : (1000 * left) / perSecond;
}

export interface Terminal {
  readonly isTTY: boolean;
  write(text: string): void;
}

const REFRESH_MS = 1_000;

/** Shows the progress of a run: a line that is redrawn on a terminal, elsewhere a line after each tenth. */
export class ProgressReport {
  readonly #terminal: Terminal;
  readonly #clock: Clock;
  #read: (() => Progress) | undefined;
  readonly #end = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #tenths = 0;
  #waiting: { reason: string; until: UnixMs } | undefined;

  constructor(terminal: Terminal, clock: Clock) {
    this.#terminal = terminal;
    this.#clock = clock;
  }

  /** Until here, only waits are shown. */
  start(read: () => Progress): void {
    this.#read = read;
    if (this.#terminal.isTTY) this.#loop = this.#redraw();
  }

  onPage(): void {
    this.#waiting = undefined;
    if (this.#terminal.isTTY || !this.#read) return;
    const progress = this.#read();
    const tenths = Math.floor(10 * shareOf(progress));
    if (tenths <= this.#tenths) return;
    this.#tenths = tenths;
    this.#terminal.write(`${progressLine(progress)}\n`);
  }

  /** Nothing is requested before `until`. */
  onWait(reason: string, until: UnixMs): void {
    const isNew = this.#waiting?.reason !== reason;
    this.#waiting = { reason, until };
    if (!isNew || (this.#terminal.isTTY && this.#read)) return;
    this.#terminal.write(`waiting ${span(until - this.#clock.now())}: ${reason}\n`);
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#loop;
  }

  async #redraw(): Promise<void> {
    while (!this.#end.signal.aborted) {
      this.#draw('');
      await this.#clock.sleep(REFRESH_MS, this.#end.signal).catch(() => undefined);
    }
    // The last progress stays on the screen.
    this.#waiting = undefined;
    this.#draw('\n');
  }

  #draw(end: string): void {
    if (!this.#read) return;
    const waiting = this.#waiting && {
      reason: this.#waiting.reason,
      ms: Math.max(0, this.#waiting.until - this.#clock.now()),
    };
    this.#terminal.write(`\r\x1b[2K${progressLine({ ...this.#read(), ...(waiting && { waiting }) })}${end}`);
  }
}
