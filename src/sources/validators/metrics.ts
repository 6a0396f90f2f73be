import { STATUSES, type Status } from '../../api/answers/validators.ts';
import { epochEnd, epochTime, USUAL_AGE } from '../../facts/chain.ts';
import { etherOf } from '../../facts/ether.ts';
import { groupLabel, sizeOf, watchedGroupOf } from '../../facts/groups.ts';
import { type Watch, watches } from '../../facts/watch.ts';
import type { Family, Labels, Sample } from '../../toolkit/exposition/family.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { maxAge, shownUntil } from '../ages.ts';
import { type Performance, performanceFamilies } from '../duties.ts';
import { family, sample } from '../families.ts';
import type { Inputs, Timing } from '../read.ts';
import { type Slashed, slashedFamilies, validatorLabels } from '../slashed.ts';
import { weiOfAll } from '../sums.ts';
import { freshSums } from './aggregates.ts';
import { credentialFamilies } from './credentials.ts';
import { epochFamilies } from './epoch-metrics.ts';
import { leavingOf } from './leaving.ts';
import { periodAt, startOf, watchedMembers } from './members.ts';
import { MAX_NAMED, type ValidatorsOptions } from './options.ts';
import { rewardFamilies } from './rewards.ts';
import {
  type FreshSums,
  type Indexed,
  identifierOf,
  isIndexed,
  type Rewards,
  type Validator,
  type Validators,
} from './state.ts';

export interface Sums {
  readonly validators: readonly Validator[];
  readonly byStatus: ReadonlyMap<Status, number>;
  readonly online: number;
  /** The longest first. */
  readonly offline: readonly Indexed[];
  /** The epoch of the oldest response. */
  readonly epoch: number;
}

/** Pure. The sums over several groups. Undefined if no validator is shown. */
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
    offline: validators.filter(isOffline).sort((a, b) => sinceOf(a) - sinceOf(b) || a.index - b.index),
    epoch: validators.reduce((oldest, { epoch }) => Math.min(oldest, epoch), Number.POSITIVE_INFINITY),
  };
}

/** Without an index it has no duties. */
function isOffline(validator: Validator): validator is Indexed {
  return validator.online === false && isIndexed(validator);
}

function sinceOf({ offlineSince, epoch }: Validator): number {
  return offlineSince ?? epoch;
}

type BalanceOf = (validator: Validator) => string | null;

/** Sums exactly in wei, then rounds once. Undefined unless the balance of every watched validator is known. */
export function etherIn(shown: readonly ShownGroup[], balanceOf: BalanceOf): number | undefined {
  const validators = shown.flatMap(({ sums }) => sums?.validators ?? []);
  const watched = shown.reduce((sum, one) => sum + one.watched, 0);
  const wei = validators.length < watched ? undefined : weiOfAll(validators.map(balanceOf));
  return wei === undefined ? undefined : etherOf(wei);
}

/** How many watched validators have each status, and how many have no valid response. The counts add up to all watched ones. */
export function byStatusOf(shown: readonly ShownGroup[]): (readonly [status: Status | 'unread', number])[] {
  const sums = totalOf(shown);
  const watched = shown.reduce((sum, one) => sum + one.watched, 0);
  const counts = STATUSES.map((status) => [status, sums?.byStatus.get(status) ?? 0] as const);
  return [...counts, ['unread', watched - (sums?.validators.length ?? 0)]];
}

/** The shown values of a group. Undefined if unread or too old. */
export interface ShownGroup {
  readonly labels: Labels;
  readonly watched: number;
  readonly sums: Sums | undefined;
  readonly duties: FreshSums<Performance> | undefined;
  readonly rewards: FreshSums<Rewards> | undefined;
}

/** Pure. Each group, and last the validators of none. */
export function shownGroups(options: ValidatorsOptions, value: Validators, timing: Timing): ShownGroup[] {
  const { chain, groups, status, rewards, undecided } = options;
  const isShown = (one: Validator): boolean =>
    status && !undecided?.has(one.key ?? '') && statusUntil(options, one.epoch, timing) !== undefined;
  const byGroup = Map.groupBy(value.validators.filter(isShown), (one) => watchedGroupOf(groups, identifierOf(one)));
  return groups.map((one) => ({
    labels: { chain, ...groupLabel(one.group) },
    watched: sizeOf(one),
    sums: sumsOf(byGroup.get(one) ?? []),
    duties: status ? freshSums(options, one, 'duties', value.duties, timing) : undefined,
    rewards: rewards ? freshSums(options, one, 'rewards', value.rewards, timing) : undefined,
  }));
}

function statusUntil({ chain, intervalMs }: ValidatorsOptions, epoch: number, timing: Timing): UnixMs | undefined {
  const maxAgeMs = maxAge(USUAL_AGE.status, timing.of('status') ?? intervalMs);
  return shownUntil({ at: epochEnd(chain, epoch) }, maxAgeMs, timing.now);
}

export function watchedOf({ validators }: Validators, watch: Watch): Validator[] {
  return validators.filter((one) => isIndexed(one) && watches(watch, one.index));
}

/** The watched validators that the last response, or an earlier one, reports as slashed. */
export function slashedIn({ validators }: Validators, watch: Watch): Slashed[] {
  return validators.flatMap(({ slashed }) => (slashed && watches(watch, slashed.validator) ? [slashed] : []));
}

/** Every family of the source for one chain. A part that is off has families without samples. */
export function validatorFamilies(
  options: ValidatorsOptions,
  value: Validators,
  timing: Timing,
  { showsSlashed }: Inputs,
): Family[] {
  const { chain, watch, groups, status } = options;
  const shown = shownGroups(options, value, timing);
  return [
    // The slashings source adds to these from the blocks of the chain.
    ...(showsSlashed ? [] : slashedFamilies(chain, groups, status ? slashedIn(value, watch) : undefined)),
    ...statusFamilies(options, shown, timing, status && value.validators.length > 0),
    ...credentialFamilies(chain, groups, status ? watchedOf(value, watch) : []),
    ...performanceFamilies('watched_validators', 'the watched validators', shown),
    ...rewardFamilies(chain, shown),
    ...memberFamilies(options, value, timing.now),
    ...epochFamilies(options, value, timing.now),
  ];
}

/** @param wasAnswered Whether the status was ever read: then the counts include validators without a valid response */
function statusFamilies(
  options: ValidatorsOptions,
  shown: readonly ShownGroup[],
  timing: Timing,
  wasAnswered: boolean,
): Family[] {
  const { chain, groups } = options;
  const all = totalOf(shown);
  const until = all && statusUntil(options, all.epoch, timing);
  const named = (validators: readonly Indexed[], epochOf: (own: Indexed) => number | undefined): Sample[] =>
    validators.slice(0, MAX_NAMED).flatMap((own) => {
      const epoch = epochOf(own);
      const at = epoch === undefined ? undefined : epochTime(chain, epoch);
      return sample(chain, at, validatorLabels(groups, own.index), until);
    });
  const offline = all?.offline ?? [];
  const leaving = leavingOf(all?.validators ?? []);
  const each = (pick: (sums: Sums) => number): Sample[] =>
    shown.flatMap(({ labels, sums }) => sample(chain, sums && pick(sums), labels, until));
  const ether = (balanceOf: BalanceOf): Sample[] =>
    shown.flatMap((one) => sample(chain, etherIn([one], balanceOf), one.labels, until));
  return [
    family(
      'watched_validators_by_status',
      'Watched validators by status (data[].status); unknown: another status; not_found: the service has no such validator; unread: no response, or too old a one',
      (wasAnswered ? shown : []).flatMap((one) =>
        byStatusOf([one]).flatMap(([status, value]) => sample(chain, value, { ...one.labels, status }, until)),
      ),
    ),
    family(
      'watched_validators_online',
      'Watched validators that are online (data[].online)',
      each(({ online }) => online),
    ),
    family(
      'watched_validators_offline',
      'Watched validators without an attestation for two epochs, except slashed ones and those without duties (data[].online)',
      each(({ offline }) => offline.length),
    ),
    family(
      'watched_validator_offline_since_timestamp_seconds',
      `Start of the epoch in which a watched validator was first seen offline. Only the ${MAX_NAMED} longest per chain`,
      named(offline, sinceOf),
    ),
    family(
      'watched_validator_offline_epoch_timestamp_seconds',
      'Start of the epoch of the newest response about an offline watched validator (range.epoch.end)',
      named(offline, ({ epoch }) => epoch),
    ),
    family(
      'watched_validator_exit_timestamp_seconds',
      `Time at which a watched validator exits, until its balance is withdrawn (data[].life_cycle_epochs.exit). Only the ${MAX_NAMED} per chain whose next step comes first`,
      named(leaving, ({ exitEpoch }) => exitEpoch),
    ),
    family(
      'watched_validator_withdrawable_timestamp_seconds',
      'Time from which the balance of an exiting watched validator can be withdrawn (data[].life_cycle_epochs.withdrawable)',
      named(leaving, ({ withdrawableEpoch }) => withdrawableEpoch),
    ),
    family(
      'watched_validators_offline_effective_balance_ether',
      'Effective balances of the offline watched validators (data[].balances.effective)',
      ether(({ online, effectiveBalance }) => (online === false ? effectiveBalance : '0')),
    ),
    family(
      'watched_validators_balance_ether',
      'Balances of the watched validators (data[].balances.current)',
      ether(({ balance }) => balance),
    ),
    family(
      'watched_validators_effective_balance_ether',
      'Effective balances of the watched validators (data[].balances.effective)',
      ether(({ effectiveBalance }) => effectiveBalance),
    ),
    family(
      'watched_validators_epoch',
      'Epoch of the oldest shown status (range.epoch.end)',
      sample(chain, all?.epoch, {}, until),
    ),
    family(
      'watched_validators_epoch_timestamp_seconds',
      'Start of the epoch of the oldest shown status',
      sample(chain, all && epochTime(chain, all.epoch), {}, until),
    ),
  ];
}

function memberFamilies(options: ValidatorsOptions, value: Validators, now: UnixMs): Family[] {
  const { chain, watch, groups, syncCommittee } = options;
  const current = periodAt(chain, now);
  const until = startOf(chain, current + 1);
  const known = (['current', 'next'] as const).flatMap((period) => {
    const number = period === 'current' ? current : current + 1;
    const members = syncCommittee && watchedMembers(watch, value.committees, number);
    return members ? [{ period, members }] : [];
  });
  return [
    family(
      'watched_sync_committee_validators',
      'Watched validators in the current or next sync committee; absent until known (data.validators)',
      known.flatMap(({ period, members }) => sample(chain, members.length, { period }, until)),
    ),
    family(
      'watched_sync_committee_validator',
      'Always 1, for each watched validator in the current or next sync committee; absent until known (data.validators)',
      known.flatMap(({ period, members }) =>
        members.flatMap((validator) => sample(chain, 1, { period, ...validatorLabels(groups, validator) }, until)),
      ),
    ),
  ];
}
