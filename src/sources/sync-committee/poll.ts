import type { Api } from '../../api/client.ts';
import { RequestFailed } from '../../api/errors.ts';
import { NONSENSE_AHEAD_SECONDS, slotTime } from '../../lib/chain.ts';
import type { UnixMs } from '../../lib/time.ts';
import { afterFailure, refusedUntil } from '../refusal.ts';
import type { Poll, Timing } from '../source.ts';
import { isCurrent, missingPeriods, SLOTS_PER_PERIOD } from './members.ts';
import type { MembersOptions, SyncCommitteeOptions } from './options.ts';
import { MembersAnswer, type Period, Seat, type SyncCommittee, SyncCommitteeAnswer } from './schema.ts';

/** Reads the current period, and its members and the next ones where they are wanted. */
export async function pollSyncCommittee(
  { chain, members }: SyncCommitteeOptions,
  api: Api,
  previous: SyncCommittee,
  { now }: Timing,
  signal: AbortSignal,
): Promise<Poll<SyncCommittee>> {
  const { period: known } = previous;
  if (!members) return { value: { period: newerOf(known, await requestPeriod(chain, api, now, signal)) } };
  const isForMembers = known && isCurrent(known, now) && missingPeriods(members, previous, now).length > 0;
  const period = isForMembers ? known : newerOf(known, await requestPeriod(chain, api, now, signal));
  return readMembers({ chain, members, api, now, signal }, { ...previous, period });
}

/** An older period than the known one comes from a cache or from a node that lags. */
function newerOf(known: Period | undefined, read: Period): Period {
  return known && read.number < known.number ? known : read;
}

async function requestPeriod(
  chain: SyncCommitteeOptions['chain'],
  api: Api,
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
  return { number: data.period, epoch: range.epoch, timestamp: range.timestamp };
}

interface MembersContext {
  readonly chain: SyncCommitteeOptions['chain'];
  readonly members: MembersOptions;
  readonly api: Api;
  readonly now: UnixMs;
  readonly signal: AbortSignal;
}

/**
 * Requests the members that are not known yet. Once the service counts as refusing, only the period is polled, and the
 * refusal is not a failure. The committee of the current period is known from the time when it was the next one, except
 * at first and after an outage.
 */
async function readMembers(context: MembersContext, previous: SyncCommittee): Promise<Poll<SyncCommittee>> {
  const { members, now, signal } = context;
  const current = previous.period?.number ?? 0;
  let value: SyncCommittee = {
    ...previous,
    committees: (previous.committees ?? []).filter(({ period }) => period >= current),
  };
  let oneTimeRequests = 0;
  for (const period of missingPeriods(members, previous, now)) {
    if (period === current) oneTimeRequests += 1;
    try {
      const answered = { ...value, membersRefusal: undefined };
      value = await readCommittee(context, answered, period, period === current ? String(period) : 'next');
    } catch (error) {
      if (signal.aborted || !(error instanceof Error)) throw error;
      const { membersRefusal: before } = value;
      const { operatorAt, onRefused } = members;
      const membersRefusal = afterFailure(before, error, now, operatorAt);
      value = { ...value, membersRefusal };
      if (now >= refusedUntil(membersRefusal, operatorAt)) return { value, failure: error };
      if (refusedUntil(before, operatorAt) === 0) onRefused(error);
      return {
        value,
        oneTimeRequests: period === current ? 1 : oneTimeRequests + 1,
      };
    }
  }
  return { value, oneTimeRequests };
}

/** A response without the period or without members means that the members are not known yet. */
async function readCommittee(
  { api, chain, signal }: MembersContext,
  previous: SyncCommittee,
  period: number,
  selector: string,
): Promise<SyncCommittee> {
  const endpoint = 'sync_committee_members';
  const path = `/api/v1/sync_committee/${selector}`;
  const { data } = await api.request({ endpoint, priority: 'sync_committee', chain, path }, MembersAnswer, signal);
  const listed = data?.period === period ? (data.validators ?? []) : [];
  const seats = await api.records(
    endpoint,
    Seat,
    listed.map((validator) => ({ validator })),
  );
  const { committees = [], ...rest } = previous;
  if (seats.length === 0) return { ...rest, committees };
  const validators = [...new Set(seats.map(({ validator }) => validator))].sort((a, b) => a - b);
  return { ...rest, committees: [...committees, { period, validators }] };
}
