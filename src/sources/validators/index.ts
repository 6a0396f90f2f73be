import { IDENTIFIERS_OF_AGGREGATE, PAGE_SIZE } from '../../api/endpoints.ts';
import { MS_PER_PERIOD } from '../../facts/chain.ts';
import type { WatchedGroup } from '../../facts/groups.ts';
import { watchedCount, watches } from '../../facts/watch.ts';
import { partsOf, refusedUntil } from '../refusal.ts';
import { evenPace, nextTick, oncePer, type Poll, type Source } from '../source.ts';
import { isAggregateDue, POLLS_PER_AGGREGATE, readPerformance, readRewards } from './aggregates.ts';
import { membersDue, readMembers } from './committees.ts';
import { nextValidatorsChange, validatorFamilies } from './metrics.ts';
import type { PollContext, ValidatorsOptions } from './options.ts';
import { NO_VALIDATORS, Validators } from './schema.ts';
import { readStatus } from './status.ts';
import { validatorsSummary } from './summary.ts';

/** The watched validators of a chain: status, balances, duties, rewards, and seats in sync committees. */
export function validatorsSource(options: ValidatorsOptions): Source<Validators> {
  const { chain, intervalMs, status, rewards } = options;
  const requests = requestsPerStatusPoll(options.groups);
  const usualRequests = requests.status + (rewards ? 2 : 1) * requests.aggregate;
  const members = options.syncCommittee ? (['sync_committee_members'] as const) : [];
  return {
    name: 'validators',
    chain,
    endpoints: status
      ? ['validators', 'validators_performance', ...(rewards ? (['validators_rewards'] as const) : []), ...members]
      : ['sync_committee_members'],
    intervalMs,
    empty: NO_VALIDATORS,
    state: Validators,
    due(value, attempts, timing) {
      const statusDue = status ? refusedUntil(value, 'status') : Number.POSITIVE_INFINITY;
      const tick = nextTick(attempts, timing.intervalMs);
      return Math.max(tick, Math.min(statusDue, membersDue(options, value, timing.now)));
    },
    isDaily: !status,
    weight: options.weight,
    pace(requestsPerDay, requestsPerPoll, _before, value) {
      const isRefused = refusedUntil(value ?? {}, 'status') > 0;
      return status && !isRefused
        ? evenPace(intervalMs, requestsPerDay, Math.max(requestsPerPoll, usualRequests))
        : oncePer(MS_PER_PERIOD, intervalMs, requestsPerDay);
    },
    poll: (api, previous, timing, signal) => pollValidators({ options, api, timing, signal, events: [] }, previous),
    anew: ({ refusals, hasSmallChunks, membersAskedAt, ...value }) => value,
    parts: partsOf(
      ...(status ? (['status', 'performance'] as const) : []),
      ...(rewards ? (['rewards'] as const) : []),
      ...(options.syncCommittee ? (['sync_committee'] as const) : []),
    ),
    families: (value, timing) => validatorFamilies(options, value, timing),
    summary: (value, timing, _, linked) => validatorsSummary(options, value, timing, linked),
    nextChange: (value, timing) => nextValidatorsChange(options, value, timing),
  };
}

/** Reads the parts that are on and not refused: status, performance, rewards, members of sync committees. */
async function pollValidators(context: PollContext, previous: Validators): Promise<Poll<Validators>> {
  const { options, timing, events } = context;
  const { watch, groups, status, rewards } = options;
  const { now } = timing;
  let value = { ...previous, validators: previous.validators.filter(({ index }) => watches(watch, index)) };
  let failure: Error | undefined;

  async function read(part: typeof readStatus): Promise<void> {
    const step = await part(context, value);
    value = step.value;
    failure ??= step.failure;
  }

  const isStatusOn = (): boolean => status && now >= refusedUntil(value, 'status');
  if (isStatusOn()) await read(readStatus);
  // A failure of one aggregate does not stop the other.
  if (!failure && isStatusOn()) {
    if (isAggregateDue(groups, value.performance)) await read(readPerformance);
    if (rewards && isAggregateDue(groups, value.rewards)) await read(readRewards);
  }
  if (now >= membersDue(options, value, now)) await read(readMembers);
  return { value, events, failure };
}

/** Requests of a poll for the status, and as a mean for each of the two aggregates. */
export function requestsPerStatusPoll(groups: readonly WatchedGroup[]): { status: number; aggregate: number } {
  const chunks = (size: number): number =>
    groups.reduce((sum, { watch }) => sum + Math.ceil(watchedCount(watch) / size), 0);
  return { status: chunks(PAGE_SIZE), aggregate: chunks(IDENTIFIERS_OF_AGGREGATE[0]) / POLLS_PER_AGGREGATE };
}
