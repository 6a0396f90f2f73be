import { STATUSES, type Status } from '../../api/answers/validators.ts';
import { epochTime } from '../../facts/chain.ts';
import { etherOf } from '../../facts/ether.ts';
import { groupLabel, type WatchedGroup, watchedGroupOf } from '../../facts/groups.ts';
import { type Watch, watches } from '../../facts/watch.ts';
import type { Family, Labels, Sample } from '../../toolkit/exposition/family.ts';
import type { Milliseconds, UnixMs } from '../../toolkit/lib/time.ts';
import { type Performance, performanceFamilies } from '../duties.ts';
import { family, fresh, isShown, maxAge, nextShownChange, sample } from '../families.ts';
import { type Slashed, slashedFamilies, validatorLabels } from '../slashed.ts';
import type { Timing } from '../source.ts';
import { aggregateOf, POLLS_PER_AGGREGATE } from './aggregates.ts';
import { periodAt, startOf, watchedMembers } from './committees.ts';
import type { ValidatorsOptions } from './options.ts';
import { rewardFamilies, sumOf } from './rewards.ts';
import type { GroupSums, Rewards, Validator, Validators } from './schema.ts';

/** How many validators have a series of their own. */
const MAX_NAMED = 100;

/** Sums over a set of validators. */
export interface Sums {
  readonly validators: readonly Validator[];
  readonly byStatus: ReadonlyMap<Status, number>;
  readonly online: number;
  /** The longest first. */
  readonly offline: readonly Validator[];
  /** The epoch of the oldest answer. */
  readonly epoch: number;
}

/** Pure. The sums over several groups; undefined: nothing is shown of their validators. */
export function totalOf(shown: readonly ShownGroup[]): Sums | undefined {
  return sumsOf(shown.flatMap(({ sums }) => sums?.validators ?? []));
}

function sumsOf(validators: readonly Validator[]): Sums | undefined {
  if (validators.length === 0) return undefined;
  const byStatus = new Map(STATUSES.map((status): [Status, number] => [status, 0]));
  for (const { status } of validators) byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  return {
    validators,
    byStatus,
    online: validators.filter(({ online }) => online).length,
    offline: validators
      .filter(({ online }) => online === false)
      .sort((a, b) => sinceOf(a) - sinceOf(b) || a.index - b.index),
    epoch: validators.reduce((oldest, { epoch }) => Math.min(oldest, epoch), Number.POSITIVE_INFINITY),
  };
}

function sinceOf({ offlineSince, epoch }: Validator): number {
  return offlineSince ?? epoch;
}

/** The sum in wei is exact, and then rounded once. Undefined: no balance is known. */
export function etherIn(
  validators: readonly Validator[],
  balanceOf: (validator: Validator) => string | null,
): number | undefined {
  const wei = sumOf(validators.flatMap((one) => balanceOf(one) ?? []));
  return wei === undefined ? undefined : etherOf(wei);
}

/** What is shown of a group. Undefined: not read, or stale. */
export interface ShownGroup {
  readonly labels: Labels;
  readonly sums: Sums | undefined;
  readonly performance: Performance | undefined;
  readonly rewards: Rewards | undefined;
}

/** Pure. Each group, the validators of none the last. */
export function shownGroups(options: ValidatorsOptions, value: Validators, timing: Timing): ShownGroup[] {
  const { chain, groups, status, rewards } = options;
  const sumsIn = <S>(isOn: boolean, one: WatchedGroup, known: readonly GroupSums<S>[]): S | undefined =>
    isOn ? fresh(aggregateOf(one, known), maxAggregateAge(timing), timing.now)?.sums : undefined;
  const validators = status ? value.validators.filter((one) => isShown(one, maxAge(timing), timing.now)) : [];
  const byGroup = Map.groupBy(validators, ({ index }) => watchedGroupOf(groups, index));
  return groups.map((one) => ({
    labels: { chain, ...groupLabel(one.group) },
    sums: sumsOf(byGroup.get(one) ?? []),
    performance: sumsIn(status, one, value.performance.groups),
    rewards: sumsIn(rewards, one, value.rewards.groups),
  }));
}

function maxAggregateAge(timing: Timing): Milliseconds {
  return POLLS_PER_AGGREGATE * maxAge(timing);
}

export function nextValidatorsChange({ chain }: ValidatorsOptions, value: Validators, timing: Timing): UnixMs {
  const { now } = timing;
  const { validators, performance, rewards, committees } = value;
  const aggregates = [...performance.groups, ...rewards.groups].map((one) => [one, maxAggregateAge(timing)] as const);
  const ages = validators.map((one) => [one, maxAge(timing)] as const);
  const nextPeriod = committees.length > 0 ? startOf(chain, periodAt(chain, now) + 1) : Number.POSITIVE_INFINITY;
  return Math.min(nextShownChange([...ages, ...aggregates], now), nextPeriod);
}

/** The watched validators that are reported as slashed, by the last answer or an earlier one. */
export function slashedIn({ validators }: Validators, watch: Watch): Slashed[] {
  return validators.flatMap(({ slashed }) => (slashed && watches(watch, slashed.validator) ? [slashed] : []));
}

/** Every family of the source for one chain. A part that is off has families without samples. */
export function validatorFamilies(options: ValidatorsOptions, value: Validators, timing: Timing): Family[] {
  const { chain, watch, groups, status, hasSlashings } = options;
  const shown = shownGroups(options, value, timing);
  return [
    // The slashings source adds to these from the blocks of the chain.
    ...(hasSlashings ? [] : slashedFamilies(chain, groups, status ? slashedIn(value, watch) : undefined)),
    ...statusFamilies(options, shown, totalOf(shown)),
    ...performanceFamilies('watched_validators', 'the watched validators', shown),
    ...rewardFamilies(chain, shown),
    ...memberFamilies(options, value, timing.now),
  ];
}

/** `all`: the sums over all groups. */
function statusFamilies(
  { chain, groups }: ValidatorsOptions,
  shown: readonly ShownGroup[],
  all: Sums | undefined,
): Family[] {
  const each = (pick: (sums: Sums) => number | undefined): Sample[] =>
    shown.flatMap(({ labels, sums }) => sample(chain, sums && pick(sums), labels));
  return [
    family(
      'watched_validators_by_status',
      'Number of watched validators by status (data[].status); unknown: another status; not_found: the service does not know them',
      shown.flatMap(({ labels, sums }) =>
        [...(sums?.byStatus ?? [])].flatMap(([status, value]) => sample(chain, value, { ...labels, status })),
      ),
    ),
    family(
      'watched_validators_online',
      'Number of watched validators that are online (data[].online)',
      each(({ online }) => online),
    ),
    family(
      'watched_validators_offline',
      'Number of watched validators that are offline: without an attestation for two epochs (data[].online); one without duties is neither online nor offline',
      each(({ offline }) => offline.length),
    ),
    family(
      'watched_validator_offline_since_timestamp_seconds',
      `Start of the epoch in which a watched validator was first seen offline. Limited to the ${MAX_NAMED} validators per chain that are offline for longest`,
      (all?.offline ?? [])
        .slice(0, MAX_NAMED)
        .flatMap((own) => sample(chain, epochTime(chain, sinceOf(own)), validatorLabels(groups, own.index))),
    ),
    family(
      'watched_validators_offline_effective_balance_ether',
      'Sum of the effective balances of the watched validators that are offline (data[].balances.effective)',
      each(({ offline }) => (offline.length === 0 ? 0 : etherIn(offline, ({ effectiveBalance }) => effectiveBalance))),
    ),
    family(
      'watched_validators_balance_ether',
      'Sum of the balances of the watched validators (data[].balances.current)',
      each(({ validators }) => etherIn(validators, ({ balance }) => balance)),
    ),
    family(
      'watched_validators_effective_balance_ether',
      'Sum of the effective balances of the watched validators (data[].balances.effective)',
      each(({ validators }) => etherIn(validators, ({ effectiveBalance }) => effectiveBalance)),
    ),
    family(
      'watched_validators_epoch',
      'Epoch of the oldest status answer that is shown (range.epoch.end)',
      sample(chain, all?.epoch),
    ),
    family(
      'watched_validators_epoch_timestamp_seconds',
      'Start of the epoch of the oldest status answer that is shown',
      sample(chain, all && epochTime(chain, all.epoch)),
    ),
  ];
}

/** Without samples where the members are not known. */
function memberFamilies(options: ValidatorsOptions, value: Validators, now: UnixMs): Family[] {
  const { chain, groups, syncCommittee } = options;
  const current = periodAt(chain, now);
  const known = (['current', 'next'] as const).flatMap((period) => {
    const members = syncCommittee && watchedMembers(options, value, period === 'current' ? current : current + 1);
    return members ? [{ period, members }] : [];
  });
  return [
    family(
      'watched_sync_committee_validators',
      'Number of watched validators in the sync committee of the current or the next period; absent until known (data.validators)',
      known.flatMap(({ period, members }) => sample(chain, members.length, { period })),
    ),
    family(
      'watched_sync_committee_validator',
      'Always 1, for each watched validator in the sync committee of the current or the next period; absent until known (data.validators)',
      known.flatMap(({ period, members }) =>
        members.flatMap((validator) => sample(chain, 1, { period, ...validatorLabels(groups, validator) })),
      ),
    ),
  ];
}
