import * as z from 'zod';
import { type Chain, slotTime } from '../facts/chain.ts';
import { groupLabel, sizeOf, type WatchedGroup, watchedGroupOf } from '../facts/groups.ts';
import { watches } from '../facts/watch.ts';
import type { Family, Labels, Sample } from '../toolkit/exposition/family.ts';
import { MS_PER_DAY } from '../toolkit/lib/duration.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { firingIf } from './conditions.ts';
import type { Notice } from './content.ts';
import { family, sample } from './families.ts';

export const Index = z.number().int().nonnegative();

/** A slashed watched validator, which stays slashed for ever. */
export const Slashed = z.object({
  validator: Index,
  /** The slot of the block with the evidence, or the first slot of the epoch that the status names. Absent if unknown. */
  slot: Index.exactOptional(),
  /** The first slot of the epoch of the first response that reports it as slashed, if an earlier one did not. */
  reportedSlot: Index.exactOptional(),
});
export type Slashed = z.infer<typeof Slashed>;

/** How long an alert about a permanent change fires. */
export const FIRING_MS = 7 * MS_PER_DAY;
const NAMES = 'Proposer slashings only with validators.proposer_slashings or validators.status';

export function validatorLabels(groups: readonly WatchedGroup[], validator: number): Labels {
  return { validator: String(validator), ...groupLabel(watchedGroupOf(groups, validator)?.group) };
}

/** `slashed`: undefined if no source reads slashings. */
export function slashedFamilies(
  chain: Chain,
  groups: readonly WatchedGroup[],
  slashed: readonly Slashed[] | undefined,
): Family[] {
  const each = (countOf: (group: WatchedGroup) => number | undefined): Sample[] =>
    groups.flatMap((one) => sample(chain, countOf(one), groupLabel(one.group)));
  const times = (field: 'slot' | 'reportedSlot'): Sample[] =>
    (slashed ?? []).flatMap(({ validator, [field]: slot }) =>
      slot === undefined ? [] : sample(chain, slotTime(chain, slot), validatorLabels(groups, validator)),
    );
  return [
    family('watched_validators', 'Validators in validators.watch', each(sizeOf)),
    family(
      'watched_validators_slashed',
      `Watched validators that were slashed. ${NAMES}`,
      each(({ watch }) => slashed?.filter(({ validator }) => watches(watch, validator)).length),
    ),
    family(
      'watched_validator_slashed_timestamp_seconds',
      `Slot time of the block with the slashing of a watched validator, or start of the epoch that its status names (life_cycle_epochs); absent if neither is known. ${NAMES}`,
      times('slot'),
    ),
    family(
      'watched_validator_reported_slashed_timestamp_seconds',
      'Start of the epoch of the first response that reports a watched validator as slashed, if an earlier one did not; not the time of the slashing (data[].slashed)',
      times('reportedSlot'),
    ),
  ];
}

/** As in the alert rule: validators slashed, or first reported as slashed, within a week. */
export function slashedNotices(chain: Chain, slashed: readonly Slashed[], now: UnixMs): Notice[] {
  const isRecent = (slot = 0): boolean => now - slotTime(chain, slot) * 1000 < FIRING_MS;
  const recent = slashed.filter(({ slot, reportedSlot }) => isRecent(slot) || isRecent(reportedSlot));
  const validators = recent.map(({ validator }) => validator);
  return firingIf('BeaconchainWatchedValidatorSlashed', validators, chain);
}
