import { oncePer, type Source } from '../source.ts';
import { syncCommitteeDue } from './due.ts';
import { nextMembersChange } from './members.ts';
import { syncCommitteeFamilies } from './metrics.ts';
import type { SyncCommitteeOptions } from './options.ts';
import { PERIOD_MS } from './periods.ts';
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
    weight: options.weight,
    pace: (requestsPerDay) => oncePer(PERIOD_MS, options.intervalMs, requestsPerDay, requestsPerPeriod),
    poll: (api, previous, timing, signal) => pollSyncCommittee(options, api, previous, timing, signal),
    summary: (value, timing) => syncCommitteeSummary(options, value, timing),
    families: (value, { now }) => syncCommitteeFamilies(options, value, now),
    nextChange: (value, { now }) => (options.members ? nextMembersChange(value, now) : Number.POSITIVE_INFINITY),
  };
}
