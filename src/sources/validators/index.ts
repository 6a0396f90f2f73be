import { IDENTIFIERS_OF_AGGREGATE, PAGE_SIZE } from '../../api/endpoints.ts';
import { MS_PER_PERIOD } from '../../facts/chain.ts';
import type { WatchedGroup } from '../../facts/groups.ts';
import { watchedCount } from '../../facts/watch.ts';
import { partsOf, refusedUntil } from '../refusal.ts';
import { evenPace, nextTick, oncePer, type Source } from '../source.ts';
import { POLLS_PER_AGGREGATE } from './aggregates.ts';
import { membersDue } from './committees.ts';
import { nextValidatorsChange, validatorFamilies } from './metrics.ts';
import type { ValidatorsOptions } from './options.ts';
import { pollValidators } from './poll.ts';
import { NO_VALIDATORS, Validators, validatorsAnew } from './schema.ts';
import { validatorsSummary } from './summary.ts';

/** The watched validators of a chain: status, balances, duties, rewards, and seats in sync committees. */
export function validatorsSource(options: ValidatorsOptions): Source<Validators> {
  const { chain, intervalMs, status, rewards } = options;
  const requests = requestsPerStatusPoll(options.groups);
  const usualRequests = requests.status + requests.performance + (rewards ? requests.rewards : 0);
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
    anew: validatorsAnew,
    parts: partsOf(
      ...(status ? (['status', 'performance'] as const) : []),
      ...(rewards ? (['rewards'] as const) : []),
      ...(options.syncCommittee ? (['sync_committee'] as const) : []),
    ),
    families: (value, timing) => validatorFamilies(options, value, timing),
    summary: (value, timing) => validatorsSummary(options, value, timing),
    nextChange: (value, timing) => nextValidatorsChange(options, value, timing),
  };
}

/** Requests of the parts in a poll, the rare ones as a mean. */
export function requestsPerStatusPoll(
  groups: readonly WatchedGroup[],
): Readonly<Record<'status' | 'performance' | 'rewards', number>> {
  const chunks = (size: number): number =>
    groups.reduce((sum, { watch }) => sum + Math.ceil(watchedCount(watch) / size), 0);
  const aggregate = chunks(IDENTIFIERS_OF_AGGREGATE[0]) / POLLS_PER_AGGREGATE;
  return { status: chunks(PAGE_SIZE), performance: aggregate, rewards: aggregate };
}
