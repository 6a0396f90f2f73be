import { DATED_AHEAD_MS, MS_PER_EPOCH } from '../facts/chain.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import type { Timing } from './read.ts';

/** `at`: when the data ended, or, if the response does not say, when the exporter read them. */
interface Dated {
  readonly at: UnixMs;
}

/** Older data never replace newer ones. Of the same time, the last reading wins. */
export function keepNewer<T>(known: T | undefined, read: T, timeOf: (one: T) => number): T {
  return known !== undefined && timeOf(known) > timeOf(read) ? known : read;
}

/** How old a value may become that is read once an interval: two reads may fail. `usualAgeMs`: its usual age when read. */
export function maxAge(usualAgeMs: Milliseconds, intervalMs: Milliseconds): Milliseconds {
  return usualAgeMs + Math.max(3 * MS_PER_EPOCH, 2 * intervalMs);
}

/**
 * The first time at which a value is too old. Undefined if the value is not shown at `now`. A value far ahead of our clock was read
 * before the clock was set back, so its age is unknown.
 */
export function shownUntil({ at }: Dated, maxAgeMs: Milliseconds, now: UnixMs): UnixMs | undefined {
  return now - at <= maxAgeMs && at - now <= DATED_AHEAD_MS ? at + maxAgeMs + 1 : undefined;
}

/** The value, and until when it is shown. Undefined if it is not shown at `now`. */
export function fresh<T extends Dated>(
  one: T | undefined,
  maxAgeMs: Milliseconds,
  now: UnixMs,
): (T & { readonly until: UnixMs }) | undefined {
  const until = one && shownUntil(one, maxAgeMs, now);
  return one && until !== undefined ? { ...one, until } : undefined;
}

/**
 * The parts of a read to request now: those without a response within the interval, so that only failed parts are repeated. If all have
 * one, all parts, because a run may be meant to show what the account permits.
 * @param askedAt The time of the last round with a response about a part. Undefined without one
 */
export function dueParts<P>(
  parts: readonly P[],
  askedAt: (part: P) => UnixMs | undefined,
  { now, intervalMs }: Pick<Timing, 'now' | 'intervalMs'>,
): readonly P[] {
  const due = parts.filter((part) => {
    const at = askedAt(part);
    return at === undefined || at > now || at + intervalMs <= now;
  });
  return due.length > 0 ? due : parts;
}
