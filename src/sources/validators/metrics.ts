import { STATUSES, type Status } from '../../api/answers/validators.ts';
import { type Chain, epochTime, MS_PER_EPOCH } from '../../facts/chain.ts';
import { etherOf } from '../../facts/ether.ts';
import { rangesOf, watches } from '../../facts/watch.ts';
import type { Family, Sample } from '../../toolkit/exposition/family.ts';
import type { Milliseconds, UnixMs } from '../../toolkit/lib/time.ts';
import { isShown, nextOf, shownChanges } from '../age.ts';
import { slashedFamilies } from '../slashed.ts';
import type { Timing } from '../source.ts';
import { periodAt, startOf, watchedMembers } from './committees.ts';
import { POLLS_PER_PERFORMANCE } from './costs.ts';
import type { ValidatorsOptions } from './options.ts';
import { DUTIES, NO_VALIDATORS, type Performance, type Validator, type Validators } from './schema.ts';
import { slashedIn } from './slashed.ts';

/** How many validators have a series of their own. */
const MAX_NAMED = 100;

/** The shown values of the watched validators: those that were read and are not stale. */
export interface Shown {
  readonly validators: readonly Validator[];
  /** Offline, the longest first. */
  readonly offline: readonly Validator[];
  readonly byStatus: ReadonlyMap<Status, number>;
  /** The epoch of the oldest answer. */
  readonly epoch: number | undefined;
  readonly performance: Performance | undefined;
}

/** Pure. */
export function shownOf(options: ValidatorsOptions, value: Validators, timing: Timing): Shown {
  const known = options.status ? value : NO_VALIDATORS;
  const validators = known.validators.filter(
    ({ index, readAt }) => watches(options.watch, index) && isShown(readAt, maxAge(timing), timing.now),
  );
  const { performance } = known;
  const byStatus = new Map(STATUSES.map((status): [Status, number] => [status, 0]));
  for (const { status } of validators) byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  return {
    validators,
    offline: validators
      .filter(({ online }) => online === false)
      .sort((a, b) => sinceOf(a) - sinceOf(b) || a.index - b.index),
    byStatus,
    epoch: validators.reduce<number | undefined>((oldest, { epoch }) => Math.min(oldest ?? epoch, epoch), undefined),
    performance:
      performance?.watch === rangesOf(options.watch) &&
      isShown(performance.readAt, POLLS_PER_PERFORMANCE * maxAge(timing), timing.now)
        ? performance
        : undefined,
  };
}

function sinceOf({ offlineSince, epoch }: Validator): number {
  return offlineSince ?? epoch;
}

export function maxAge({ intervalMs }: Timing): Milliseconds {
  return Math.max(3 * MS_PER_EPOCH, 2 * intervalMs);
}

/** When the families change without a poll. */
export function nextValidatorsChange(options: ValidatorsOptions, value: Validators, timing: Timing): UnixMs {
  const { now } = timing;
  const changes = [
    ...value.validators.flatMap(({ readAt }) => shownChanges(readAt, maxAge(timing))),
    ...(value.performance ? shownChanges(value.performance.readAt, POLLS_PER_PERFORMANCE * maxAge(timing)) : []),
    ...(value.committees.length > 0 ? [startOf(options.chain, periodAt(options.chain, now) + 1)] : []),
  ];
  return nextOf(changes, now);
}

/** Every family of the source for one chain. A part that is off has families without samples. */
export function validatorFamilies(options: ValidatorsOptions, value: Validators, timing: Timing): Family[] {
  const { chain, watch, status, hasSlashings } = options;
  return [
    // The slashings source adds to these from the blocks of the chain.
    ...(hasSlashings ? [] : slashedFamilies(chain, watch, status ? slashedIn(value, watch) : undefined)),
    ...statusFamilies(chain, shownOf(options, value, timing)),
    ...memberFamilies(options, value, timing.now),
  ];
}

function statusFamilies(chain: Chain, shown: Shown): Family[] {
  const { validators, offline, byStatus, epoch, performance } = shown;
  const one = (value: number | undefined): Sample[] => (value === undefined ? [] : [{ labels: { chain }, value }]);
  const ofAll = (value: () => number): Sample[] => (validators.length === 0 ? [] : one(value()));
  const { duties, scores } = performance ?? {};
  return [
    gauge(
      'validators_by_status',
      'Number of watched validators by status (data[].status); unknown: another status; not_found: the service does not know them',
      validators.length === 0 ? [] : [...byStatus].map(([status, value]) => ({ labels: { chain, status }, value })),
    ),
    gauge(
      'validators_online',
      'Number of watched validators that are online (data[].online)',
      ofAll(() => validators.filter(({ online }) => online).length),
    ),
    gauge(
      'validators_offline',
      'Number of watched validators that are offline: without an attestation for two epochs (data[].online); one without duties is neither online nor offline',
      ofAll(() => offline.length),
    ),
    gauge(
      'validator_offline_since_timestamp_seconds',
      `Start of the epoch in which a watched validator was first seen offline. Limited to the ${MAX_NAMED} validators per chain that are offline for longest`,
      offline.slice(0, MAX_NAMED).map((validator) => ({
        labels: { chain, validator: String(validator.index) },
        value: epochTime(chain, sinceOf(validator)),
      })),
    ),
    gauge(
      'validators_balance_ether',
      'Sum of the balances of the watched validators (data[].balances.current)',
      one(sumOf(validators.map(({ balance }) => balance))),
    ),
    gauge(
      'validators_effective_balance_ether',
      'Sum of the effective balances of the watched validators (data[].balances.effective)',
      one(sumOf(validators.map(({ effectiveBalance }) => effectiveBalance))),
    ),
    gauge('validators_epoch', 'Epoch of the oldest status answer that is shown (range.epoch.end)', one(epoch)),
    gauge(
      'validators_epoch_timestamp_seconds',
      'Start of the epoch of the oldest status answer that is shown',
      one(epoch === undefined ? undefined : epochTime(chain, epoch)),
    ),
    gauge(
      'validators_score_ratio',
      'BeaconScore of the watched validators over the last 24 hours, 1 = 100 %; absent without such a duty (data.beaconscore)',
      (['total', ...DUTIES] as const).flatMap((duty) => {
        const value = scores?.[duty];
        return value === undefined ? [] : [{ labels: { chain, duty }, value }];
      }),
    ),
    gauge(
      'validators_duties',
      'Duties of the watched validators in the last 24 hours (data.duties)',
      duties
        ? DUTIES.flatMap((duty) =>
            (['assigned', 'missed', 'done'] as const).map((status) => ({
              labels: { chain, duty, status },
              value: duties[duty][status],
            })),
          )
        : [],
    ),
  ];
}

/** The sum in wei is exact, and then rounded once. Undefined: no balance is known. */
function sumOf(balances: readonly (string | null)[]): number | undefined {
  const known = balances.filter((wei) => wei !== null);
  return known.length === 0 ? undefined : etherOf(String(known.reduce((sum, wei) => sum + BigInt(wei), 0n)));
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
    gauge(
      'sync_committee_validators',
      'Number of watched validators in the sync committee of the current or the next period; absent until known (data.validators)',
      known.map(({ period, members }) => ({ labels: { chain, period }, value: members.length })),
    ),
    gauge(
      'sync_committee_validator',
      'Always 1, for each watched validator in the sync committee of the current or the next period; absent until known (data.validators)',
      known.flatMap(({ period, members }) =>
        members.map((validator) => ({ labels: { chain, period, validator: String(validator) }, value: 1 })),
      ),
    ),
  ];
}

function gauge(name: string, help: string, samples: Sample[]): Family {
  return { name: `beaconchain_watched_${name}`, type: 'gauge', help: `${help}.`, samples };
}
