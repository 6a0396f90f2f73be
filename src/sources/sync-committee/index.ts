import { type Chain, MS_PER_PERIOD } from '../../facts/chain.ts';
import { MS_PER_MINUTE } from '../../toolkit/lib/duration.ts';
import type { Milliseconds } from '../../toolkit/lib/time.ts';
import { dueOncePer, oncePer, type Source } from '../source.ts';
import { syncCommitteeFamilies } from './metrics.ts';
import { pollSyncCommittee } from './poll.ts';
import { SyncCommittee } from './schema.ts';
import { syncCommitteeSummary } from './summary.ts';

const AFTER_PERIOD_END_MS = 5 * MS_PER_MINUTE;

/** The sync committee period at the head of a chain. */
export function syncCommitteeSource(chain: Chain, intervalMs: Milliseconds): Source<SyncCommittee> {
  return {
    name: 'sync_committee',
    chain,
    endpoint: 'sync_committee',
    intervalMs,
    empty: {},
    state: SyncCommittee,
    due({ period }, attempts, timing) {
      const endsAt = period && period.timestamp.end * 1000;
      const current = { endsAt, lengthMs: MS_PER_PERIOD, delayMs: AFTER_PERIOD_END_MS };
      return dueOncePer(current, intervalMs, attempts, timing);
    },
    isDaily: true,
    weight: 1,
    pace: (requestsPerDay) => oncePer(MS_PER_PERIOD, intervalMs, requestsPerDay),
    poll: (api, previous, { now }, signal) => pollSyncCommittee(chain, api, previous, now, signal),
    summary: (value, timing) => syncCommitteeSummary(value, timing),
    families: (value) => syncCommitteeFamilies(chain, value),
    nextChange: () => Number.POSITIVE_INFINITY,
  };
}
