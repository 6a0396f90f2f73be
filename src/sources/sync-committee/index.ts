import type { UnixMs } from '../../lib/time.ts';
import { refusedUntil } from '../refusal.ts';
import { type Attempts, dueOncePer, nextTick, oncePer, type Source, type Timing } from '../source.ts';
import { missingPeriods, nextMembersChange, PERIOD_MS } from './members.ts';
import { syncCommitteeFamilies } from './metrics.ts';
import type { SyncCommitteeOptions } from './options.ts';
import { pollSyncCommittee } from './poll.ts';
import { SyncCommittee } from './schema.ts';
import { syncCommitteeSummary } from './summary.ts';

/** The sync committee period at the head of a chain, and which watched validators are members. */
export function syncCommitteeSource(options: SyncCommitteeOptions): Source<SyncCommittee> {
  // In a period: one request for it, and one for the members of the next one.
  const requestsPerPeriod = options.members ? 2 : 1;
  return {
    name: 'sync_committee',
    chain: options.chain,
    endpoint: 'sync_committee',
    intervalMs: options.intervalMs,
    empty: {},
    state: SyncCommittee,
    due: (value, attempts, timing) => syncCommitteeDue(options, value, attempts, timing),
    isDaily: true,
    weight: 1,
    pace: (requestsPerDay) => oncePer(PERIOD_MS, options.intervalMs, requestsPerDay, requestsPerPeriod),
    poll: (api, previous, timing, signal) => pollSyncCommittee(options, api, previous, timing, signal),
    summary: (value, timing) => syncCommitteeSummary(options, value, timing),
    families: (value, { now }) => syncCommitteeFamilies(options, value, now),
    nextChange: (value, { now }) => (options.members ? nextMembersChange(value, now) : Number.POSITIVE_INFINITY),
  };
}

const AFTER_PERIOD_END_MS = 300_000;

/** Five minutes after the end of the period, then every interval until it changes, and while wanted members are not known. */
function syncCommitteeDue(
  { members, intervalMs }: SyncCommitteeOptions,
  value: SyncCommittee,
  attempts: Attempts,
  timing: Timing,
): UnixMs {
  const { period, membersRefusal } = value;
  const endsAt = period && period.timestamp.end * 1000;
  const current = { endsAt, lengthMs: PERIOD_MS, delayMs: AFTER_PERIOD_END_MS };
  const due = dueOncePer(current, intervalMs, attempts, timing);
  if (!members || endsAt === undefined) return due;
  // Members that were never requested, because they were not wanted before a reload, do not wait for an interval.
  if (value.committees === undefined && attempts.failuresInARow === 0) return timing.now;
  const tick = Math.max(nextTick(attempts, timing.intervalMs), refusedUntil(membersRefusal, members.operatorAt));
  // Once the period is over, the next one is read first, because it determines whose members are wanted.
  const isMissing = tick < endsAt && missingPeriods(members, value, Math.max(tick, timing.now)).length > 0;
  return isMissing ? Math.min(due, tick) : due;
}
