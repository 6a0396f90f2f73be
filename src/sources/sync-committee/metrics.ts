import type { Chain } from '../../facts/chain.ts';
import type { Family } from '../../toolkit/exposition/family.ts';
import type { Period, SyncCommittee } from './schema.ts';

const FAMILIES: readonly (readonly [name: string, help: string, value: (period: Period) => number])[] = [
  ['period', 'Current sync committee period (data.period)', ({ number }) => number],
  ['start_epoch', 'First epoch of the period (range.epoch.start)', ({ epoch }) => epoch.start],
  ['end_epoch', 'Last epoch of the period (range.epoch.end)', ({ epoch }) => epoch.end],
  ['start_timestamp_seconds', 'Start of the period (range.timestamp.start)', ({ timestamp }) => timestamp.start],
  ['end_timestamp_seconds', 'End of the period (range.timestamp.end)', ({ timestamp }) => timestamp.end],
];

/** Every sync committee family; without samples before the first answer. */
export function syncCommitteeFamilies(chain: Chain, { period }: SyncCommittee): Family[] {
  return FAMILIES.map(([name, help, value]) => ({
    name: `beaconchain_sync_committee_${name}`,
    type: 'gauge',
    help: `${help}. Polled once per period of about 27 hours.`,
    samples: period ? [{ labels: { chain }, value: value(period) }] : [],
  }));
}
