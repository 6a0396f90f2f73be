import { DATED_AHEAD_MS, MS_PER_EPOCH } from '../facts/chain.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import type { Timing } from './read.ts';

/** A value is as old as what it says: when that ended. If it does not say it, when it was read. */
interface Dated {
  readonly at: UnixMs;
}

/** An older answer never replaces a newer one. Of the same time, the one that is read last counts. */
export function keepNewer<T>(known: T | undefined, read: T, timeOf: (one: T) => number): T {
  return known !== undefined && timeOf(known) > timeOf(read) ? known : read;
}

/** How old a value that is read once an interval may become: two reads may fail. `honestMs`: its age when it is read. */
export function maxAge(honestMs: Milliseconds, intervalMs: Milliseconds): Milliseconds {
  return honestMs + Math.max(3 * MS_PER_EPOCH, 2 * intervalMs);
}

/**
 * The first time at which a value is too old. Undefined: the value is not shown at `now`. A value from far ahead of our clock
 * was read before the clock was set back, so its age is unknown.
 */
export function shownUntil({ at }: Dated, maxAgeMs: Milliseconds, now: UnixMs): UnixMs | undefined {
  return now - at <= maxAgeMs && at - now <= DATED_AHEAD_MS ? at + maxAgeMs + 1 : undefined;
}

/** The value, and until when it is shown. Undefined: the value is not shown at `now`. */
export function fresh<T extends Dated>(
  one: T | undefined,
  maxAgeMs: Milliseconds,
  now: UnixMs,
): (T & { readonly until: UnixMs }) | undefined {
  const until = one && shownUntil(one, maxAgeMs, now);
  return one && until !== undefined ? { ...one, until } : undefined;
}

/**
 * The parts of a read that are to be asked for now: those that were not answered within the interval. What failed is so
 * repeated alone. If all were answered, all of them, because a run may be meant to show what the account permits.
 * @param askedAt The time of the round that last had an answer about a part. Undefined: none had
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
