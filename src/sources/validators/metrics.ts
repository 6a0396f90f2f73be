import { STATUSES, type Status } from '../../api/answers/validators.ts';
import { epochTime, MS_PER_EPOCH } from '../../facts/chain.ts';
import { etherOf } from '../../facts/ether.ts';
import { rangesOf, type Watch, watches } from '../../facts/watch.ts';
import type { Family, Sample } from '../../toolkit/exposition/family.ts';
import type { Milliseconds, UnixMs } from '../../toolkit/lib/time.ts';
import { family, isShown, nextShownChange, sample } from '../families.ts';
import { type Slashed, slashedFamilies } from '../slashed.ts';
import type { Timing } from '../source.ts';
import { periodAt, startOf, watchedMembers } from './committees.ts';
import type { ValidatorsOptions } from './options.ts';
import { POLLS_PER_PERFORMANCE } from './performance.ts';
import { DUTIES, type Performance, type Validator, type Validators } from './schema.ts';

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

/** Pure. The sums over the watched validators that were read and are not stale; undefined: there are none. */
export function shownSums({ watch, status }: ValidatorsOptions, value: Validators, timing: Timing): Sums | undefined {
  const validators = value.validators.filter(
    ({ index, readAt }) => status && watches(watch, index) && isShown(readAt, maxAge(timing), timing.now),
  );
  return validators.length > 0 ? sumsOf(validators) : undefined;
}

function sumsOf(validators: readonly Validator[]): Sums {
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
function etherIn(
  validators: readonly Validator[],
  balanceOf: (validator: Validator) => string | null,
): number | undefined {
  const known = validators.map(balanceOf).filter((wei) => wei !== null);
  return known.length === 0 ? undefined : etherOf(String(known.reduce((sum, wei) => sum + BigInt(wei), 0n)));
}

/** Pure. Undefined: not read, stale, or about another set of validators. */
export function shownPerformance(
  { watch, status }: ValidatorsOptions,
  { performance }: Validators,
  timing: Timing,
): Performance | undefined {
  const isOurs = status && performance?.watch === rangesOf(watch);
  return isOurs && isShown(performance.readAt, maxPerformanceAge(timing), timing.now) ? performance : undefined;
}

export function maxAge({ intervalMs }: Timing): Milliseconds {
  return Math.max(3 * MS_PER_EPOCH, 2 * intervalMs);
}

function maxPerformanceAge(timing: Timing): Milliseconds {
  return POLLS_PER_PERFORMANCE * maxAge(timing);
}

/** When the families change without a poll. */
export function nextValidatorsChange({ chain }: ValidatorsOptions, value: Validators, timing: Timing): UnixMs {
  const { now } = timing;
  const { validators, performance, committees } = value;
  const ages = validators.map(({ readAt }) => [readAt, maxAge(timing)] as const);
  if (performance) ages.push([performance.readAt, maxPerformanceAge(timing)]);
  const nextPeriod = committees.length > 0 ? startOf(chain, periodAt(chain, now) + 1) : Number.POSITIVE_INFINITY;
  return Math.min(nextShownChange(ages, now), nextPeriod);
}

/** The watched validators that are reported as slashed, by the last answer or an earlier one. */
export function slashedIn({ validators }: Validators, watch: Watch): Slashed[] {
  return validators.flatMap(({ slashed }) => (slashed && watches(watch, slashed.validator) ? [slashed] : []));
}

/** Every family of the source for one chain. A part that is off has families without samples. */
export function validatorFamilies(options: ValidatorsOptions, value: Validators, timing: Timing): Family[] {
  const { chain, watch, status, hasSlashings } = options;
  return [
    // The slashings source adds to these from the blocks of the chain.
    ...(hasSlashings ? [] : slashedFamilies(chain, watch, status ? slashedIn(value, watch) : undefined)),
    ...statusFamilies(options, value, timing),
    ...performanceFamilies(options, value, timing),
    ...memberFamilies(options, value, timing.now),
  ];
}

function statusFamilies(options: ValidatorsOptions, value: Validators, timing: Timing): Family[] {
  const { chain } = options;
  const sums = shownSums(options, value, timing);
  const one = (value: number | undefined): Sample[] => sample(chain, value);
  return [
    family(
      'watched_validators_by_status',
      'Number of watched validators by status (data[].status); unknown: another status; not_found: the service does not know them',
      [...(sums?.byStatus ?? [])].flatMap(([status, value]) => sample(chain, value, { status })),
    ),
    family(
      'watched_validators_online',
      'Number of watched validators that are online (data[].online)',
      one(sums?.online),
    ),
    family(
      'watched_validators_offline',
      'Number of watched validators that are offline: without an attestation for two epochs (data[].online); one without duties is neither online nor offline',
      one(sums?.offline.length),
    ),
    family(
      'watched_validator_offline_since_timestamp_seconds',
      `Start of the epoch in which a watched validator was first seen offline. Limited to the ${MAX_NAMED} validators per chain that are offline for longest`,
      (sums?.offline ?? [])
        .slice(0, MAX_NAMED)
        .flatMap((own) => sample(chain, epochTime(chain, sinceOf(own)), { validator: String(own.index) })),
    ),
    family(
      'watched_validators_balance_ether',
      'Sum of the balances of the watched validators (data[].balances.current)',
      one(sums && etherIn(sums.validators, ({ balance }) => balance)),
    ),
    family(
      'watched_validators_effective_balance_ether',
      'Sum of the effective balances of the watched validators (data[].balances.effective)',
      one(sums && etherIn(sums.validators, ({ effectiveBalance }) => effectiveBalance)),
    ),
    family(
      'watched_validators_epoch',
      'Epoch of the oldest status answer that is shown (range.epoch.end)',
      one(sums?.epoch),
    ),
    family(
      'watched_validators_epoch_timestamp_seconds',
      'Start of the epoch of the oldest status answer that is shown',
      one(sums && epochTime(chain, sums.epoch)),
    ),
  ];
}

function performanceFamilies(options: ValidatorsOptions, value: Validators, timing: Timing): Family[] {
  const { chain } = options;
  const { duties, scores } = shownPerformance(options, value, timing) ?? {};
  return [
    family(
      'watched_validators_score_ratio',
      'BeaconScore of the watched validators over the last 24 hours, 1 = 100 %; absent without such a duty (data.beaconscore)',
      (['total', ...DUTIES] as const).flatMap((duty) => sample(chain, scores?.[duty], { duty })),
    ),
    family(
      'watched_validators_duties',
      'Duties of the watched validators in the last 24 hours (data.duties)',
      DUTIES.flatMap((duty) =>
        (['assigned', 'missed', 'done'] as const).flatMap((status) =>
          sample(chain, duties?.[duty][status], { duty, status }),
        ),
      ),
    ),
  ];
}

/** Without samples where the members are not known. */
function memberFamilies(options: ValidatorsOptions, value: Validators, now: UnixMs): Family[] {
  const { chain, syncCommittee } = options;
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
        members.flatMap((validator) => sample(chain, 1, { period, validator: String(validator) })),
      ),
    ),
  ];
}
