import * as z from 'zod';
import type { Seconds, UnixSeconds } from '../lib/time.ts';
import type { Span } from '../sources/history.ts';

const Times = z.object({ start: z.number(), end: z.number() });

/** The times of one source that its scrapes cover, in Unix seconds; both ends are inclusive. */
export const Covered = z.object({
  /** Oldest first. */
  ended: z.array(Times),
  /** The latest one. Groups in `first` begin earlier: with their first record that was scraped. */
  current: Times.extend({ first: z.array(z.tuple([z.string(), z.number()])) }).exactOptional(),
});
export type Covered = z.infer<typeof Covered>;

/** The clock of Prometheus sets the time of a scrape. It differs from ours by less than this. */
export const OTHER_CLOCK_SECONDS: Seconds = 60;

/** Tells whether a record would lie among samples that were scraped. */
export function recordTest(covered: Covered): (group: string, at: UnixSeconds) => boolean {
  const { ended, current } = covered;
  const first = new Map(current?.first);
  return (group, at) => {
    if (ended.some((span) => isIn(span, at))) return true;
    return (
      current !== undefined && at <= current.end && at >= Math.min(current.start, first.get(group) ?? current.start)
    );
  };
}

/** The times without scrapes in a span, oldest first. In whole seconds, because the service accepts no others. */
export function freeSpans(span: Span, covered: Covered): Span[] {
  let start = span.start;
  const free: Span[] = [];
  for (const taken of spansOf(covered)) {
    free.push({ start, end: Math.min(span.end, Math.ceil(taken.start)) });
    start = Math.max(start, Math.floor(taken.end));
  }
  return [...free, { start, end: span.end }].filter((one) => one.start < one.end);
}

/** Oldest first. */
export function spansOf({ ended, current }: Covered): Span[] {
  return [...ended, ...(current ? [current] : [])];
}

export function isScraped(covered: Covered, at: UnixSeconds): boolean {
  return spansOf(covered).some((span) => isIn(span, at));
}

function isIn({ start, end }: Span, at: UnixSeconds): boolean {
  return at >= start && at <= end;
}
