import type { Chain } from '../../lib/chain.ts';
import type { UnixMs } from '../../lib/time.ts';
import type { Family, Sample } from '../../metrics/family.ts';
import { type WatchedMembers, watchedMembers } from './members.ts';
import type { SyncCommitteeOptions } from './options.ts';
import type { Period, SyncCommittee } from './schema.ts';

const FAMILIES: readonly (readonly [name: string, help: string, value: (period: Period) => number])[] = [
  ['period', 'Current sync committee period (data.period)', ({ number }) => number],
  ['start_epoch', 'First epoch of the period (range.epoch.start)', ({ epoch }) => epoch.start],
  ['end_epoch', 'Last epoch of the period (range.epoch.end)', ({ epoch }) => epoch.end],
  ['start_timestamp_seconds', 'Start of the period (range.timestamp.start)', ({ timestamp }) => timestamp.start],
  ['end_timestamp_seconds', 'End of the period (range.timestamp.end)', ({ timestamp }) => timestamp.end],
];

/** Every sync committee family; without samples before the first answer. */
export function syncCommitteeFamilies(
  { chain, members }: SyncCommitteeOptions,
  state: SyncCommittee,
  now: UnixMs,
): Family[] {
  const { period } = state;
  const ofPeriod = FAMILIES.map(
    ([name, help, value]): Family => ({
      name: `beaconchain_sync_committee_${name}`,
      type: 'gauge',
      help: `${help}. Polled once per period of about 27 hours.`,
      samples: period ? [{ labels: { chain }, value: value(period) }] : [],
    }),
  );
  return [...ofPeriod, ...memberFamilies(chain, members && watchedMembers(members, state, now))];
}

/** Without samples where the members are not known. */
function memberFamilies(chain: Chain, watched: WatchedMembers | undefined): Family[] {
  const known = (['current', 'next'] as const).flatMap((period) => {
    const validators = watched?.[period];
    return validators ? [{ period, validators }] : [];
  });
  const family = (name: string, help: string, samples: Sample[]): Family => ({
    name: `beaconchain_watched_${name}`,
    type: 'gauge',
    help: `${help}. Requires sync_committee.members; absent until known (data.validators).`,
    samples,
  });
  return [
    family(
      'sync_committee_validators',
      'Number of watched validators in the sync committee of the current or the next period',
      known.map(({ period, validators }) => ({ labels: { chain, period }, value: validators.length })),
    ),
    family(
      'sync_committee_validator',
      'Always 1, for each watched validator in the sync committee of the current or the next period',
      known.flatMap(({ period, validators }) =>
        validators.map((validator) => ({ labels: { chain, period, validator: String(validator) }, value: 1 })),
      ),
    ),
  ];
}
