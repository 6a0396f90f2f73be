import { SECONDS_PER_DAY } from '../../lib/duration.ts';
import { type Attempts, nextTick, type Timing } from '../source.ts';
import type { DailyReturns, Datapoint } from './schema.ts';

/** A day is final two to three epochs after its end at the earliest (api-facts 3.4). */
const MIN_DELAY_SECONDS = 1_200;
/** How much earlier than last time to look, so that a shorter delay is found again. */
const LOOK_AHEAD_SECONDS = 600;

/** Takes the newest of the days in and learns, where it can be told, how long after its end a day appears. */
export function newer(previous: DailyReturns, days: readonly Datapoint[], timing: Timing): DailyReturns {
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
 * Without a poll in vain just before it, the day may have been there for long (after a stop, say): then the delay is at
 * most what was known.
 */
function observedDelay(previous: DailyReturns, newest: Datapoint, timing: Timing): number | undefined {
  const nowSeconds = timing.now / 1000;
  const observed = nowSeconds - newest.day_end;
  const { newest: known, missedAt, delaySeconds } = previous;
  const wasAwaited = missedAt !== undefined && newest.day - 1 === known?.day;
  // Two intervals: the budget may have held the second poll back for a while.
  if (wasAwaited && nowSeconds - missedAt <= (2 * timing.intervalMs) / 1000) return observed;
  return delaySeconds === undefined ? undefined : Math.min(delaySeconds, observed);
}

/** One request a day: when the next day can be there, and then every interval until it is. */
export function dailyReturnsDue(
  { newest, delaySeconds = 0 }: DailyReturns,
  attempts: Attempts,
  timing: Timing,
): number {
  const tick = nextTick(attempts, timing.intervalMs);
  if (!newest || attempts.lastAttemptAt === undefined) return tick;
  const delay = Math.max(MIN_DELAY_SECONDS, delaySeconds - LOOK_AHEAD_SECONDS);
  const appears = (newest.day_end + SECONDS_PER_DAY + delay) * 1000;
  // Whatever was learned, look once a day.
  return Math.min(Math.max(tick, appears), Math.max(tick, attempts.lastAttemptAt + SECONDS_PER_DAY * 1000));
}
