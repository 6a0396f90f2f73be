import type { Api } from '../../api/client.ts';
import type { UnixMs } from '../../lib/time.ts';
import { afterFailure, refusedUntil } from '../refusal.ts';
import type { Poll } from '../source.ts';
import { missingPeriods } from './members.ts';
import type { MembersOptions, SyncCommitteeOptions } from './options.ts';
import { MembersAnswer, Seat, type SyncCommittee } from './schema.ts';

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
export async function readMembers(context: MembersContext, previous: SyncCommittee): Promise<Poll<SyncCommittee>> {
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
