import { SECONDS_PER_DAY } from '../lib/duration.ts';
import type { History } from '../sources/history.ts';
import type { Slice } from './plan.ts';

/** A span of time whose samples go into one file; Unix seconds, `to` is exclusive. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** promtool's smallest block; files that end where blocks end make no block twice. */
const CELL_SECONDS = 7_200;

/**
 * The spans that are put together one at a time. Of machines a UTC day: promtool reads a file once for each block that it
 * makes of it, and a day of a large fleet is hundreds of megabytes. What comes once a day is little.
 */
export function windowsOf(slices: readonly Slice[], histories: ReadonlyMap<string, History>): Window[] {
  if ([...histories.values()].some(({ isDaily }) => isDaily)) return [{ from: 0, to: Number.MAX_SAFE_INTEGER }];
  const ends = slices.flatMap(({ source, range }) => {
    const reach = histories.get(source)?.reachSeconds ?? 0;
    return 'start' in range ? [range.start - reach, range.end + 1 + reach] : [];
  });
  const first = Math.floor(Math.min(...ends) / SECONDS_PER_DAY);
  const last = Math.ceil(Math.max(...ends) / SECONDS_PER_DAY);
  return Array.from({ length: Math.max(0, last - first) }, (_, i) => ({
    from: (first + i) * SECONDS_PER_DAY,
    to: (first + i + 1) * SECONDS_PER_DAY,
  }));
}

/** How many samples there are in each cell of time. */
export class Census {
  readonly #cells = new Map<number, number>();

  add(at: number, samples: number): void {
    const cell = Math.floor(at / CELL_SECONDS);
    this.#cells.set(cell, (this.#cells.get(cell) ?? 0) + samples);
  }

  /** Cuts a window so that no piece has more than `most` samples, unless two hours alone have. */
  cut(window: Window, most: number): Window[] {
    const windows: Window[] = [];
    let from = window.from;
    let held = 0;
    for (const [cell, samples] of [...this.#cells].sort(([a], [b]) => a - b)) {
      if (held > 0 && held + samples > most) {
        const at = cell * CELL_SECONDS;
        windows.push({ from, to: at });
        from = at;
        held = 0;
      }
      held += samples;
    }
    return [...windows, { from, to: window.to }];
  }
}
