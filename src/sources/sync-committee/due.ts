import type { UnixMs } from '../../lib/time.ts';
import { type Attempts, nextTick, type Timing } from '../source.ts';
import { missingPeriods } from './members.ts';
import type { MembersOptions, SyncCommitteeOptions } from './options.ts';
import { endOf, PERIOD_MS } from './periods.ts';
import type { SyncCommittee } from './schema.ts';

const AFTER_PERIOD_END_MS = 300_000;

/**
 * Once a period: five minutes after its end, then every interval until the service has the next one. Also every interval
 * while wanted members are not known.
 */
export function syncCommitteeDue(
  { members }: SyncCommitteeOptions,
  value: SyncCommittee,
  attempts: Attempts,
  timing: Timing,
): UnixMs {
  const { period } = value;
  const { lastAttemptAt } = attempts;
  const tick = nextTick(attempts, timing.intervalMs);
  if (!period || lastAttemptAt === undefined) return tick;
  const afterEnd = Math.max(tick, period.timestamp.end * 1000 + AFTER_PERIOD_END_MS);
  // At most the length of a period after the last poll, regardless of the end that the service reports.
  const due = Math.min(afterEnd, Math.max(tick, lastAttemptAt + PERIOD_MS + AFTER_PERIOD_END_MS));
  return members ? Math.min(due, membersDue(members, value, attempts, { tick, now: timing.now })) : due;
}

/** Once the period is over, the new one is read first, because it determines whose members are wanted. */
function membersDue(
  members: MembersOptions,
  value: SyncCommittee,
  { lastAttemptAt = 0, failuresInARow }: Attempts,
  { tick, now }: { readonly tick: UnixMs; readonly now: UnixMs },
): UnixMs {
  const { period, committees, membersRefused } = value;
  if (!period) return tick;
  const end = endOf(period);
  // Members that were not wanted before, and therefore never requested, do not wait for an interval.
  const isNew = committees === undefined && membersRefused === undefined && failuresInARow === 0;
  const at = isNew ? lastAttemptAt : tick;
  const isMissing = missingPeriods(members, value, now).length > 0;
  return isMissing && at < end ? at : Math.max(tick, end + AFTER_PERIOD_END_MS);
}
