import type { Clock } from '../lib/clock.ts';
import type { Milliseconds, UnixMs } from '../lib/time.ts';
import type { Bucket } from './bucket.ts';
import type { Ledger } from './ledger.ts';
import { LONG_WINDOWS } from './long-window.ts';

/** A longer wait ends on a calendar date (the end of the month), which stays right after a suspend. */
const MAX_KEPT_MS = 3_600_000;

/** A smaller difference is normal clock synchronization. */
const MIN_STEP_MS = 1_000;

/** Corrects the times of a ledger when the wall clock is set: by NTP, by hand, or after a suspend. */
export class ClockSteps {
  readonly #clock: Clock;
  /** The wall clock minus the monotonic clock. */
  #offset: Milliseconds;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offset = clock.now() - clock.monotonic();
  }

  /** The ledger in terms of the current clock; the same object if the clock was not set since the last call. */
  follow(ledger: Ledger): Ledger {
    const now = this.#clock.now();
    const offset = now - this.#clock.monotonic();
    const step = offset - this.#offset;
    if (Math.abs(step) < MIN_STEP_MS) return ledger;
    this.#offset = offset;
    return withoutFuture(shifted(ledger, step, now), now);
  }
}

/**
 * Waits keep their length, because the service counts them in seconds. After a step forward, which may be time that
 * really passed, a wait is prolonged to at most an hour from now.
 */
function shifted(ledger: Ledger, step: Milliseconds, now: UnixMs): Ledger {
  const { key } = ledger;
  // 0 means never, and no time is negative.
  const moved = (at: UnixMs): UnixMs => Math.max(0, at + step);
  return mapBuckets({ ...ledger, key: { ...key, since: moved(key.since) } }, (bucket) => {
    const { closedUntil, closedAt } = bucket;
    const until = moved(closedUntil);
    return {
      ...bucket,
      closedUntil: step < 0 ? until : Math.max(closedUntil, Math.min(until, now + MAX_KEPT_MS)),
      ...(closedAt === undefined ? {} : { closedAt: moved(closedAt) }),
    };
  });
}

/** A past event dated after `now` happened before the clock was set back: it is dated `now`. */
export function withoutFuture(ledger: Ledger, now: UnixMs): Ledger {
  const { key } = ledger;
  return mapBuckets({ ...ledger, key: { ...key, since: Math.min(key.since, now) } }, (bucket) => {
    const { closedAt = 0, closedUntil, firstUseAt, lastUseAt } = bucket;
    const past: Bucket = {
      ...bucket,
      ...(closedAt > now ? { closedAt: now, closedUntil: closedUntil - (closedAt - now) } : {}),
      ...(firstUseAt === undefined ? {} : { firstUseAt: Math.min(firstUseAt, now) }),
      ...(lastUseAt === undefined ? {} : { lastUseAt: Math.min(lastUseAt, now) }),
    };
    for (const name of LONG_WINDOWS) {
      const window = past[name];
      if (window && window.since > now) past[name] = { ...window, since: now };
    }
    return past;
  });
}

function mapBuckets(ledger: Ledger, change: (bucket: Bucket) => Bucket): Ledger {
  const buckets = Object.entries(ledger.buckets).map(([name, bucket]) => [name, change(bucket)]);
  return { ...ledger, buckets: Object.fromEntries(buckets) };
}
