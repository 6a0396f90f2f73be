import type { Api } from '../../api/client.ts';
import { RequestFailed } from '../../api/errors.ts';
import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, NONSENSE_AHEAD_SECONDS, slotTime } from '../../lib/chain.ts';
import type { UnixMs } from '../../lib/time.ts';
import { askEither } from '../alternatives.ts';
import { askByClock, LATEST_OR_NUMBER } from '../by-clock.ts';
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
  if (!members) {
    const { period, selector } = previous;
    return readPeriod(chain, api, { period, selector }, now, signal);
  }
  const isForMembers =
    previous.period && isCurrent(previous.period, now) && missingPeriods(members, previous, now).length > 0;
  const read: Poll<SyncCommittee> = isForMembers
    ? { value: previous }
    : await readPeriod(chain, api, previous, now, signal);
  if (read.failure) return read;
  const { oneTimeRequests = 0, ...poll } = await readMembers({ chain, members, api, now, signal }, read.value);
  return { ...poll, oneTimeRequests: oneTimeRequests + (read.oneTimeRequests ?? 0) };
}

async function readPeriod(
  chain: SyncCommitteeOptions['chain'],
  api: Api,
  previous: SyncCommittee,
  now: UnixMs,
  signal: AbortSignal,
): Promise<Poll<SyncCommittee>> {
  const select = (selector: object): Promise<Period> => requestPeriod(chain, api, selector, now, signal);
  const { known, answer, failure, oneTimeRequests } = await askEither(
    { ...LATEST_OR_NUMBER, previous: previous.selector, now, signal },
    (way, isUsual) =>
      way === 'latest'
        ? select({ view: 'latest' })
        : askByClock({ chain, now, isUsual }, periodOf, (number) => select({ number })),
  );
  const { period } = previous;
  // An older period than the known one comes from a cache or from a node that lags.
  const newest = period && answer && answer.number < period.number ? period : (answer ?? period);
  const value = { ...previous, period: newest, selector: known };
  return { value, oneTimeRequests, ...(failure && { failure }) };
}

function periodOf(epoch: number): number {
  return Math.floor(epoch / EPOCHS_PER_SYNC_COMMITTEE_PERIOD);
}

async function requestPeriod(
  chain: SyncCommitteeOptions['chain'],
  api: Api,
  selector: object,
  now: UnixMs,
  signal: AbortSignal,
): Promise<Period> {
  const { data, range } = await api.request(
    {
      endpoint: 'sync_committee',
      priority: 'sync_committee',
      path: '/api/v2/ethereum/sync-committee',
      body: { sync_committee_period: selector, chain },
    },
    SyncCommitteeAnswer,
    signal,
  );
  if (slotTime(chain, data.period * SLOTS_PER_PERIOD) > now / 1000 + NONSENSE_AHEAD_SECONDS) {
    throw new RequestFailed('sync_committee', 'invalid_body', 'a period far in the future', 200);
  }
  return { number: data.period, epoch: range.epoch, timestamp: range.timestamp };
}
