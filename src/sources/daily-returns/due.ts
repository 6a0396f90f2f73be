import { SECONDS_PER_DAY } from '../../lib/duration.ts';
import type { Seconds, UnixMs } from '../../lib/time.ts';
import { type Attempts, nextTick, type Timing } from '../source.ts';
import type { DailyReturns, Datapoint } from './schema.ts';

/** A day is final two to three epochs after its end at the earliest (api-facts 3.4). */
const MIN_DELAY_SECONDS = 1_200;
/** Polls begin this long before the learned delay has passed, so that a shorter delay is noticed. */
const HEAD_START_SECONDS = 600;

/** Keeps the newest day, and learns how long after its end a day appears. */
export function withDays(previous: DailyReturns, days: readonly Datapoint[], timing: Timing): DailyReturns {
  const nowSeconds = timing.now / 1000;
  const known = previous.newest;
  const newest = days.reduce((best, day) => (best && best.day > day.day ? best : day), known);
  if (!newest || newest.day === known?.day) {
    if (!known) return previous;
    const isAwaited = nowSeconds >= known.day_end + SECONDS_PER_DAY;
    return { ...previous, newest, ...(isAwaited ? { missedAt: nowSeconds } : {}) };
  }
  const { missedAt, ...rest } = previous;
  const delay = observedDelay(previous, newest, timing);
  return { ...rest, newest, ...(delay === undefined ? {} : { delaySeconds: delay }) };
}

/**
 * The delay is observed only if a poll shortly before did not find the day. Otherwise, for example after a stop, the
 * day may have been published long ago, and the observation is only an upper bound.
 */
function observedDelay(previous: DailyReturns, newest: Datapoint, timing: Timing): Seconds | undefined {
  const nowSeconds = timing.now / 1000;
  const observed = nowSeconds - newest.day_end;
  const { newest: known, missedAt, delaySeconds } = previous;
  const wasAwaited = missedAt !== undefined && newest.day - 1 === known?.day;
  // Two intervals, because the budget may have delayed the second poll.
  if (wasAwaited && nowSeconds - missedAt <= (2 * timing.intervalMs) / 1000) return observed;
  return delaySeconds === undefined ? undefined : Math.min(delaySeconds, observed);
}

/** One request a day: when the next day may have appeared, and then every interval until it has. */
export function dailyReturnsDue(
  { newest, delaySeconds = 0 }: DailyReturns,
  attempts: Attempts,
  timing: Timing,
): UnixMs {
  const tick = nextTick(attempts, timing.intervalMs);
  if (!newest || attempts.lastAttemptAt === undefined) return tick;
  const delay = Math.max(MIN_DELAY_SECONDS, delaySeconds - HEAD_START_SECONDS);
  const appears = (newest.day_end + SECONDS_PER_DAY + delay) * 1000;
  // At least once a day, however long the learned delay.
  return Math.min(Math.max(tick, appears), Math.max(tick, attempts.lastAttemptAt + SECONDS_PER_DAY * 1000));
}
