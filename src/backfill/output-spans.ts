import { SECONDS_PER_DAY } from '../lib/duration.ts';
import type { History } from '../sources/history.ts';
import type { Slice } from './plan.ts';

/** A span of time whose samples go into one file; Unix seconds, `to` is exclusive. */
export interface OutputSpan {
  readonly from: number;
  readonly to: number;
}

/** promtool's smallest block. Files that end where blocks end do not make two blocks of the same time. */
const BLOCK_SECONDS = 7_200;

/**
 * The spans that are written one at a time. For machines a UTC day: promtool reads a file once for each block that it
 * creates from it, and a day of a large fleet takes hundreds of megabytes. Daily records are few: one span holds them
 * all.
 */
export function outputSpans(slices: readonly Slice[], histories: ReadonlyMap<string, History>): OutputSpan[] {
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

export function contains({ from, to }: OutputSpan, at: number): boolean {
  return at >= from && at < to;
}

/** Counts the samples of each block. */
export class BlockCounts {
  readonly #blocks = new Map<number, number>();

  add(at: number, samples: number): void {
    const block = Math.floor(at / BLOCK_SECONDS);
    this.#blocks.set(block, (this.#blocks.get(block) ?? 0) + samples);
  }

  /** Splits a span where blocks end, into pieces of at most `max` samples; a block with more is a piece of its own. */
  split(span: OutputSpan, max: number): OutputSpan[] {
    const pieces: OutputSpan[] = [];
    let from = span.from;
    let held = 0;
    for (const [block, samples] of [...this.#blocks].sort(([a], [b]) => a - b)) {
      if (held > 0 && held + samples > max) {
        const at = block * BLOCK_SECONDS;
        pieces.push({ from, to: at });
        from = at;
        held = 0;
      }
      held += samples;
    }
    return [...pieces, { from, to: span.to }];
  }
}
