import * as z from 'zod';
import { CLOCK_AHEAD_SECONDS } from '../lib/clock.ts';
import type { Milliseconds, UnixMs, UnixSeconds } from '../lib/time.ts';
import type { Span } from '../sources/history.ts';
import type { Showing, Source, Timing } from '../sources/source.ts';

const unixSeconds: z.ZodType<UnixSeconds> = z.number();

/**
 * When scrapes can have recorded values of a source with the time of the scrape. A backfill leaves out this time: it
 * writes records with their own, earlier time, so counters would decrease where both have samples.
 */
export const Scraped = z.object({
  /** Times that have ended, oldest first. Both ends are inclusive. */
  ended: z.array(z.object({ start: unixSeconds, end: unixSeconds })),
  /** The span that has not ended. */
  current: z
    .object({
      /** `UNKNOWN_START`: not known. */
      start: unixSeconds,
      /** Groups whose first shown record is older than `start`, with the time of that record. */
      first: z.array(z.tuple([z.string(), unixSeconds])),
      /** How long they are shown by the settings of a poll; absent: without end, or an earlier version wrote the state. */
      until: unixSeconds.exactOptional(),
    })
    .exactOptional(),
});
export type Scraped = z.infer<typeof Scraped>;

/** The start of a span whose start is unknown, because an earlier version wrote the state. */
export const UNKNOWN_START: UnixSeconds = 0;

const MAX_ENDED = 100;

/** The part of an entry that is used here. */
interface Polled<T> {
  readonly value: T;
  readonly scraped?: Scraped;
  readonly lastAttemptAt?: UnixMs;
  readonly durationMs?: Milliseconds;
  readonly intervalMs?: Milliseconds;
}

/** What scrapes may record after a poll that started at `timing.now` and ended at `endedAt` with `value`. */
export function withScraped<T>(
  source: Source<T>,
  before: Polled<T>,
  value: T,
  timing: Timing,
  endedAt: UnixMs = timing.now,
): Scraped | undefined {
  if (!source.showing) return undefined;
  const last = source.showing(before.value, timing);
  const next = source.showing(value, timing);
  const known = scrapedNow(source, before, timing);
  const isOver = last === undefined || last.until < timing.now;
  // The newest value that is no longer shown may be that of a machine whose clock is ahead.
  const end = last ? endOf(longest(last, known, timing.now)) : endedAt / 1000 + CLOCK_AHEAD_SECONDS;
  const scraped = isOver ? ended(known, end) : known;
  if (!next || next.until < timing.now) return scraped;
  return { ...scraped, current: withShown(scraped.current ?? { start: timing.now / 1000, first: [] }, next) };
}

/**
 * With the values that only the settings of now show: after a reload, or when the interval has changed, scrapes take them
 * before the next poll.
 */
export function scrapedNow<T>(source: Source<T>, entry: Polled<T>, timing: Timing): Scraped {
  const known = entry.scraped ?? scrapedBefore(source, entry, timing.now);
  const polledAt = entry.lastAttemptAt ?? timing.now;
  const shown = source.showing?.(entry.value, { ...timing, now: polledAt });
  if (known.current || !shown || source.isDaily) return known;
  const endedAt = (known.ended.at(-1)?.end ?? 0) * 1000;
  // The values that an earlier process showed after its last poll were withdrawn with that process.
  const isOver = shown.until < polledAt || endedAt > polledAt + (entry.durationMs ?? 0);
  if (shown.until < timing.now && isOver) return known;
  return { ...known, current: withShown({ start: Math.max(polledAt, endedAt) / 1000, first: [] }, shown) };
}

type Current = NonNullable<Scraped['current']>;

function withShown(current: Current, { oldest, until }: Showing): Current {
  const first = new Map(current.first);
  for (const [group, at] of oldest()) {
    // A record of another process can be older, and come later.
    if (at < Math.min(current.start, first.get(group) ?? at + 1)) first.set(group, at);
  }
  const shownUntil = Math.max(current.until ?? 0, until / 1000);
  // JSON has no Infinity.
  return { ...current, first: [...first], ...(Number.isFinite(shownUntil) && { until: shownUntil }) };
}

/** Earlier settings may have shown them for longer. */
function longest(last: Showing, { current }: Scraped, now: UnixMs): Showing {
  return { ...last, until: Math.max(last.until, Math.min(now, (current?.until ?? 0) * 1000)) };
}

/** For an entry from an earlier version, it is only known whether there is something to scrape. */
export function scrapedBefore<T>(source: Source<T>, entry: Polled<T>, now: UnixMs): Scraped {
  const isShown = source.showing?.(entry.value, timingOf(source, entry, now)) !== undefined;
  return { ended: [], ...(isShown && { current: { start: UNKNOWN_START, first: [] } }) };
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
  const last = source.showing?.(entry.value, timingOf(source, entry, now));
  if (!last) return undefined;
  // A time before the last poll belongs to an earlier process.
  const stopped = stoppedAt !== undefined && stoppedAt >= (entry.lastAttemptAt ?? 0) ? stoppedAt : undefined;
  const { until: shownUntil } = longest(last, entry.scraped ?? { ended: [] }, now);
  // Values that a daily source shows again are some days apart and are not counters.
  const isShownAgain = last.until >= now && !(source.isDaily && stopped !== undefined);
  return isShownAgain
    ? undefined
    : endOf({ ...last, until: Math.min(shownUntil, stopped ?? Number.POSITIVE_INFINITY) });
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
  // More interruptions than this are merged: a gap that is not filled is harmless.
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
  const scraped = entry.scraped && scrapedNow(source, entry, timingOf(source, entry, now));
  // A process that was killed had asked for the day within a day.
  const end = endOfScrapes(source, entry, stoppedAt ?? (source.isDaily ? entry.lastAttemptAt : undefined), now);
  return scraped && end !== undefined ? ended(scraped, end) : scraped;
}

/** The timing by which values are shown for longest: they may have been polled for a longer interval. */
export function timingOf<T>(source: Source<T>, entry: Pick<Polled<T>, 'intervalMs'>, now: UnixMs): Timing {
  return { now, intervalMs: Math.max(source.intervalMs, entry.intervalMs ?? 0), coverage: 'full' };
}
