import type { Api } from '../../api/client.ts';
import { RequestFailed } from '../../api/errors.ts';
import { NONSENSE_AHEAD_SECONDS, slotTime } from '../../lib/chain.ts';
import type { UnixMs } from '../../lib/time.ts';
import type { Poll, Timing } from '../source.ts';
import { isCurrent, missingPeriods } from './members.ts';
import type { SyncCommitteeOptions } from './options.ts';
import { SLOTS_PER_PERIOD } from './periods.ts';
import { readMembers } from './read-members.ts';
import { type Period, type SyncCommittee, SyncCommitteeAnswer } from './schema.ts';

/** Reads the current period, and its members and the next ones where they are wanted. */
export async function pollSyncCommittee(
  { chain, members }: SyncCommitteeOptions,
  api: Api,
  previous: SyncCommittee,
  { now }: Timing,
  signal: AbortSignal,
): Promise<Poll<SyncCommittee>> {
  if (!members) return { value: { period: await readPeriod(chain, api, previous, now, signal) } };
  const isForMembers =
    previous.period && isCurrent(previous.period, now) && missingPeriods(members, previous, now).length > 0;
  const value = isForMembers ? previous : { ...previous, period: await readPeriod(chain, api, previous, now, signal) };
  return readMembers({ chain, members, api, now, signal }, value);
}

async function readPeriod(
  chain: SyncCommitteeOptions['chain'],
  api: Api,
  previous: SyncCommittee,
  now: UnixMs,
  signal: AbortSignal,
): Promise<Period> {
  const { data, range } = await api.request(
    {
      endpoint: 'sync_committee',
      priority: 'sync_committee',
      path: '/api/v2/ethereum/sync-committee',
      body: { sync_committee_period: { view: 'latest' }, chain },
    },
    SyncCommitteeAnswer,
    signal,
  );
  if (slotTime(chain, data.period * SLOTS_PER_PERIOD) > now / 1000 + NONSENSE_AHEAD_SECONDS) {
    throw new RequestFailed('sync_committee', 'invalid_body', 'a period far in the future', 200);
  }
  // An older period than the known one comes from a cache or from a node that lags.
  if (previous.period && data.period < previous.period.number) return previous.period;
  return { number: data.period, epoch: range.epoch, timestamp: range.timestamp };
}
