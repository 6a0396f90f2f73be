import type { Milliseconds } from '../lib/time.ts';
import { roughSpan } from '../lib/words.ts';

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

export function shareOf({ done, expected }: Progress): number {
  return expected === 0 ? 1 : Math.min(1, done / expected);
}

/** One line: bar, requests done and expected, time left. */
export function progressLine(progress: Progress): string {
  const { done, expected, waiting } = progress;
  const share = shareOf(progress);
  const filled = Math.round(BAR_WIDTH * share);
  const bar = `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}]`;
  const percent = `${String(Math.floor(100 * share)).padStart(3)} %`;
  const count = `${done} of ${expected} requests`;
  const rest = waiting ? `waiting ${roughSpan(waiting.ms)}: ${waiting.reason}` : `${roughSpan(leftMs(progress))} left`;
  return `${bar} ${percent}  ${count}, ${rest}`;
}

/** Estimated from the rate so far; at first from the rate that the plan allows. */
function leftMs({ done, expected, elapsedMs, perSecond }: Progress): Milliseconds {
  const left = Math.max(0, expected - done);
  return done >= 10 ? (left * elapsedMs) / done : (1000 * left) / perSecond;
}
