import type { UnixMs } from '../../lib/time.ts';
import { refusedUntil } from '../refusal.ts';
import { type Attempts, nextTick, type Timing } from '../source.ts';
import { missingPeriods } from './members.ts';
import type { MembersOptions, SyncCommitteeOptions } from './options.ts';
import { endOf, PERIOD_MS } from './periods.ts';
import type { SyncCommittee } from './schema.ts';

const AFTER_PERIOD_END_MS = 300_000;

/**
 * Once a period: five minutes after its end, however short before it the last poll was, then every interval until the
 * service has the next one. Also every interval while wanted members are not known.
 */
export function syncCommitteeDue(
  { members, intervalMs: configuredMs }: SyncCommitteeOptions,
  value: SyncCommittee,
  attempts: Attempts,
  timing: Timing,
): UnixMs {
  const { period } = value;
  const { lastAttemptAt } = attempts;
  const tick = nextTick(attempts, timing.intervalMs);
  if (!period || lastAttemptAt === undefined) return tick;
  // A stretched interval is what the budget allows, and one of more than a period is what the operator wants.
  const isKept = timing.intervalMs > Math.min(configuredMs, PERIOD_MS);
  const ticks = { tick, isKept, now: timing.now };
  const afterEnd = dueAfter(period.timestamp.end * 1000, lastAttemptAt, ticks);
  // At most the length of a period after the last poll, regardless of the end that the service reports.
  const due = Math.min(afterEnd, Math.max(tick, lastAttemptAt + PERIOD_MS + AFTER_PERIOD_END_MS));
  return members ? Math.min(due, membersDue(members, value, attempts, ticks)) : due;
}

interface Ticks {
  /** One interval after the last poll. */
  readonly tick: UnixMs;
  /** Whether even the end of a period does not shorten the interval. */
  readonly isKept: boolean;
  readonly now: UnixMs;
}

/** When the period that follows `end` is due. */
function dueAfter(end: UnixMs, lastAttemptAt: UnixMs, { tick, isKept }: Ticks): UnixMs {
  const first = end + AFTER_PERIOD_END_MS;
  return lastAttemptAt < first && !isKept ? first : Math.max(tick, first);
}

/** Once the period is over, the new one is read first, because it determines whose members are wanted. */
function membersDue(
  members: MembersOptions,
  value: SyncCommittee,
  { lastAttemptAt = 0, failuresInARow }: Attempts,
  ticks: Ticks,
): UnixMs {
  const { period, committees, membersRefusal } = value;
  const { tick, now } = ticks;
  if (!period) return tick;
  const end = endOf(period);
  // Members that were not wanted before, and therefore never requested, do not wait for an interval.
  const isNew = committees === undefined && failuresInARow === 0;
  const at = isNew ? lastAttemptAt : Math.max(tick, refusedUntil(membersRefusal, members.operatorAt));
  const isMissing = missingPeriods(members, value, Math.max(at, now)).length > 0;
  return isMissing && at < end ? at : dueAfter(end, lastAttemptAt, ticks);
}
