import { SECONDS_PER_DAY } from '../../lib/chain.ts';
import { type Attempts, nextTick, type Timing } from '../source.ts';
import type { DailyReturns, Datapoint } from './schema.ts';

/** A day is final two to three epochs after its end at the earliest (api facts 3.4). */
const SHORTEST_DELAY_SECONDS = 1_200;
/** How much earlier than last time to look, so that a shorter delay is found again. */
const LOOK_AHEAD_SECONDS = 600;

/** Takes the newest of the days in and learns, where it can be told, how long after its end a day appears. */
export function newer(previous: DailyReturns, days: readonly Datapoint[], nowSeconds: number): DailyReturns {
  const known = previous.newest;
  const newest = days.reduce((best, day) => (best && best.day > day.day ? best : day), known);
  if (!newest || newest.day === known?.day) {
    if (!known) return previous;
    const awaited = known.day_end + SECONDS_PER_DAY;
    return { ...previous, newest, ...(nowSeconds >= awaited ? { missedDayEnd: awaited } : {}) };
  }
  const { missedDayEnd, ...rest } = previous;
  const delay = observedDelay(previous, newest, nowSeconds);
  return { ...rest, newest, ...(delay === undefined ? {} : { delaySeconds: delay }) };
}

/**
 * Without a poll in vain before it, the day may have been there for long (after a stop, say): then the delay is at most
 * what was known.
 */
function observedDelay(previous: DailyReturns, newest: Datapoint, nowSeconds: number): number | undefined {
  const observed = nowSeconds - newest.day_end;
  if (previous.missedDayEnd === newest.day_end) return observed;
  return previous.delaySeconds === undefined ? undefined : Math.min(previous.delaySeconds, observed);
}

/** One request a day: when the next day can be there, and then every interval until it is. */
export function dailyReturnsDue({ newest, delaySeconds = 0 }: DailyReturns, attempts: Attempts, timing: Timing): number {
  const tick = nextTick(attempts, timing.intervalMs);
  if (!newest || attempts.lastAttemptAt === undefined) return tick;
  const delay = Math.max(SHORTEST_DELAY_SECONDS, delaySeconds - LOOK_AHEAD_SECONDS);
  const appears = (newest.day_end + SECONDS_PER_DAY + delay) * 1000;
  // Whatever was learned, look once a day.
  return Math.min(Math.max(tick, appears), Math.max(tick, attempts.lastAttemptAt + SECONDS_PER_DAY * 1000));
}
