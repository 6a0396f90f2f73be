import type { Quota } from '../budget/quota.ts';
import { MS_PER_DAY } from '../lib/duration.ts';
import type { Milliseconds, UnixMs } from '../lib/time.ts';
import type { Coverage, Pace, Source } from '../sources/source.ts';
import { type Entry, mostRequestsPerPoll } from '../state/entry.ts';
import { nextAttemptAt } from './plan.ts';

/** How a source runs now. */
export interface Schedule {
  /** The pace that the budget allows; if its interval is not usable, the last one that was. */
  readonly pace: Pace;
  /** When the next attempt is due and permitted; Infinity: not before a new key or a restart. */
  readonly nextAttemptAt: UnixMs;
  /** When one poll may start earlier, to learn whether more is left; Infinity: never. */
  readonly probeAt: UnixMs;
  readonly wait?: Wait;
}

/** The quota keeps a source waiting for more than its interval after it is due. */
export interface Wait {
  readonly until: UnixMs;
  readonly limit: Quota['limit'];
}

/** The inputs that decide how a source runs. */
export interface ScheduleInput {
  readonly source: Source;
  readonly entry: Entry;
  /** The pace that the budget allows now. */
  readonly planned: Pace;
  /** The pace that a full quota would allow. */
  readonly whole: () => Pace;
  readonly quota: Quota;
  /** When its requests may be sent, by key and quota. */
  readonly opensAt: UnixMs;
}

/**
 * An interval up to this multiple of that of a full quota is usable, because others on the account may take half of it.
 */
const SLOWER_THAN_WHOLE = 2;

/** An interval of more than a day is not usable, unless even a full quota allows hardly less. */
export function isUsableInterval(intervalMs: Milliseconds, whole: () => Pace): boolean {
  return intervalMs <= MS_PER_DAY || intervalMs <= SLOWER_THAN_WHOLE * whole().intervalMs;
}

/** A source without a usable interval waits. Its interval and staleness do not change during the wait. */
export function scheduleOf(input: ScheduleInput, now: UnixMs): Schedule {
  const { source, entry, planned, whole, quota } = input;
  const carriesAt = carriesPollAt(quota, entry);
  const opensAt = Math.max(input.opensAt, carriesAt);
  const nextAt = (pace: Cadence, permittedAt: UnixMs): UnixMs =>
    nextAttemptAt(source, entry, { now, ...pace }, permittedAt);
  if (carriesAt <= now + planned.intervalMs && isUsableInterval(planned.intervalMs, whole)) {
    return { pace: planned, nextAttemptAt: nextAt(planned, opensAt), probeAt: Number.POSITIVE_INFINITY };
  }
  const last = lastPace(entry, whole);
  const pace: Pace = { ...last, requestsPerDay: carriesAt > now ? 0 : planned.requestsPerDay };
  const next = Math.min(nextAt(planned, opensAt), nextAt(last, Math.max(opensAt, quota.renewsAt)));
  const due = nextAt(last, 0) || now;
  // The key is refused or revoked, although the quota is open.
  const isKeyClosed = input.opensAt > Math.max(now, quota.opensAt);
  if (isKeyClosed || next <= due + last.intervalMs) {
    return { pace, nextAttemptAt: next, probeAt: Number.POSITIVE_INFINITY };
  }
  const wait: Wait = { until: next, limit: quota.limit };
  return { pace, nextAttemptAt: next, probeAt: Math.max(due, quota.probeAt), wait };
}

/**
 * When the quota is enough for a whole poll. With less, a poll would fail in the middle and use up what other sources
 * can still use.
 */
function carriesPollAt({ opensAt, left, whole, renewsAt }: Quota, entry: Entry): UnixMs {
  const needed = Math.min(mostRequestsPerPoll(entry), whole);
  return left < needed ? Math.max(opensAt, renewsAt) : opensAt;
}

type Cadence = { readonly intervalMs: Milliseconds; readonly coverage: Coverage };

/** The pace of the last poll if it was usable, otherwise that of a full quota. */
function lastPace({ intervalMs, coverage }: Entry, whole: () => Pace): Cadence {
  if (intervalMs === undefined || !isUsableInterval(intervalMs, whole)) return whole();
  return { intervalMs, coverage: coverage ?? whole().coverage };
}
