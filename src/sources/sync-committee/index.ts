import { type Chain, EPOCHS_PER_SYNC_COMMITTEE_PERIOD, SECONDS_PER_EPOCH } from '../../lib/chain.ts';
import { type Attempts, nextTick, oncePer, type Source, type Timing } from '../source.ts';
import { syncCommitteeFamilies } from './metrics.ts';
import { pollSyncCommittee } from './poll.ts';
import { SyncCommittee } from './schema.ts';
import { syncCommitteeSummary } from './summary.ts';

const AFTER_PERIOD_END_MS = 300_000;
const PERIOD_SECONDS = EPOCHS_PER_SYNC_COMMITTEE_PERIOD * SECONDS_PER_EPOCH;

/** The sync committee period at the head of a chain. */
export function syncCommitteeSource(options: {
  chain: Chain;
  intervalMs: number;
  weight: number;
}): Source<SyncCommittee> {
  return {
    name: 'sync_committee',
    chain: options.chain,
    endpoint: 'sync_committee',
    intervalMs: options.intervalMs,
    empty: {},
    state: SyncCommittee,
    due: syncCommitteeDue,
    isDaily: true,
    weight: options.weight,
    pace: (requestsPerDay) => oncePer(PERIOD_SECONDS * 1000, options.intervalMs, requestsPerDay),
    poll: (api, previous, timing, signal) => pollSyncCommittee(options.chain, api, previous, timing, signal),
    summary: (value, timing) => syncCommitteeSummary(value.period, timing),
    families: (value) => syncCommitteeFamilies(options.chain, value.period),
    nextChange: () => Number.POSITIVE_INFINITY,
  };
}

/** Once a period: five minutes after its end, then every interval until the service has the next one. */
function syncCommitteeDue({ period }: SyncCommittee, attempts: Attempts, timing: Timing): number {
  const tick = nextTick(attempts, timing.intervalMs);
  if (!period || attempts.lastAttemptAt === undefined) return tick;
  const afterEnd = Math.max(tick, period.timestamp.end * 1000 + AFTER_PERIOD_END_MS);
  // At most the length of a period after the last poll, whatever end the service names.
  return Math.min(afterEnd, Math.max(tick, attempts.lastAttemptAt + PERIOD_SECONDS * 1000 + AFTER_PERIOD_END_MS));
}
