import { z } from 'zod';
import type { Milliseconds, UnixMs, UnixSeconds } from '../lib/time.ts';
import type { Span } from '../sources/history.ts';
import type { Source, Timing } from '../sources/source.ts';

const unixSeconds: z.ZodType<UnixSeconds> = z.number();

/**
 * When scrapes can have taken values of a source at the time of the scrape. A backfill leaves this time out: it writes
 * records at their own time, which is earlier, so counters would step back where both have samples.
 */
export const Scraped = z.object({
  /** Times that have ended, oldest first. Both ends are inclusive. */
  ended: z.array(z.object({ start: unixSeconds, end: unixSeconds })),
  /** The time that goes on. */
  current: z
    .object({
      /** 0: unknown, because an earlier version wrote the state. */
      start: unixSeconds,
      /** Groups whose first shown record is older than `start`, and the time of that record. */
      first: z.array(z.tuple([z.string(), unixSeconds])),
    })
    .exactOptional(),
});
export type Scraped = z.infer<typeof Scraped>;

const MAX_ENDED = 100;

/** The part of an entry that this is about. */
interface Polled<T> {
  readonly value: T;
  readonly scraped?: Scraped;
  readonly lastAttemptAt?: UnixMs;
  readonly intervalMs?: Milliseconds;
}

/** What scrapes may take once a poll that began at `timing.now` has ended with `value`. */
export function withScraped<T>(source: Source<T>, before: Polled<T>, value: T, timing: Timing): Scraped | undefined {
  if (!source.showing) return undefined;
  const last = source.showing(before.value, timing);
  const next = source.showing(value, timing);
  const known = before.scraped ?? scrapedBefore(source, before, timing.now);
  const isOver = last === undefined || last.until < timing.now;
  const scraped = isOver ? ended(known, last ? endOf(last) : timing.now / 1000) : known;
  if (!next || next.until < timing.now) return scraped;
  const current = scraped.current ?? { start: timing.now / 1000, first: [] };
  const seen = new Set(current.first.map(([group]) => group));
  const first = next.oldest.filter(([group, at]) => at < current.start && !seen.has(group));
  return { ...scraped, current: { ...current, first: [...current.first, ...first.map(copied)] } };
}

/** What is known where an earlier version wrote the entry: only whether there is something to scrape. */
export function scrapedBefore<T>(source: Source<T>, entry: Polled<T>, now: UnixMs): Scraped {
  const timing = { now, intervalMs: source.intervalMs, coverage: 'full' } as const;
  return { ended: [], ...(source.showing?.(entry.value, timing) && { current: { start: 0, first: [] } }) };
}

function copied([group, at]: readonly [string, UnixSeconds]): [string, UnixSeconds] {
  return [group, at];
}

/**
 * When scrapes of the current time ended, in Unix seconds; undefined: the values are shown now, or are again after a start.
 * `stoppedAt` is when the process that showed them ended; undefined: it runs, or was killed and may have been scraped for as
 * long as it showed them.
 */
export function endOfScrapes<T>(
  source: Source<T>,
  entry: Polled<T>,
  stoppedAt: UnixMs | undefined,
  now: UnixMs,
): UnixSeconds | undefined {
  const intervalMs = Math.max(source.intervalMs, entry.intervalMs ?? 0);
  const last = source.showing?.(entry.value, { now, intervalMs, coverage: 'full' });
  if (!last) return undefined;
  // One that is older than the last poll is that of an earlier process.
  const stopped = stoppedAt !== undefined && stoppedAt >= (entry.lastAttemptAt ?? 0) ? stoppedAt : undefined;
  // What a daily source shows again differs by some days, and counts nothing.
  const isShownAgain = last.until >= now && !(source.isDaily && stopped !== undefined);
  return isShownAgain
    ? undefined
    : endOf({ ...last, until: Math.min(last.until, stopped ?? Number.POSITIVE_INFINITY) });
}

/** A record can be ahead of our clock. */
function endOf({ until, newest }: { readonly until: UnixMs; readonly newest: UnixSeconds }): UnixSeconds {
  return Math.max(until / 1000, newest);
}

/** With the current time ended. */
function ended({ ended: before, current }: Scraped, end: UnixSeconds): Scraped {
  if (!current) return { ended: before };
  const start = Math.min(current.start, ...current.first.map(([, at]) => at));
  const all = [...before, { start, end }];
  const [first, second, ...rest] = all;
  // So many interruptions are one: a gap that is not filled does no harm.
  if (all.length > MAX_ENDED && first && second) return { ended: [joined(first, second), ...rest] };
  return { ended: all };
}

function joined(a: Span, b: Span): Span {
  return { start: a.start, end: b.end };
}

/** What is known when a process starts that shows the value again. */
export function afterStart<T>(
  source: Source<T>,
  entry: Polled<T>,
  stoppedAt: UnixMs | undefined,
  now: UnixMs,
): Scraped | undefined {
  const { scraped } = entry;
  const end = endOfScrapes(source, entry, stoppedAt, now);
  return scraped && end !== undefined ? ended(scraped, end) : scraped;
}
