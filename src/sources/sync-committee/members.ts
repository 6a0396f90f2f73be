import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, SECONDS_PER_EPOCH, SLOTS_PER_EPOCH } from '../../lib/chain.ts';
import type { UnixMs } from '../../lib/time.ts';
import { refusedUntil } from '../refusal.ts';
import type { MembersOptions } from './options.ts';
import type { Period, SyncCommittee } from './schema.ts';

export const SLOTS_PER_PERIOD = EPOCHS_PER_SYNC_COMMITTEE_PERIOD * SLOTS_PER_EPOCH;
export const PERIOD_MS = EPOCHS_PER_SYNC_COMMITTEE_PERIOD * SECONDS_PER_EPOCH * 1000;

/**
 * The number of the period at `now`. The period that was read last has begun, so no earlier one can be current,
 * regardless of the clock.
 */
export function periodAt({ number, timestamp }: Period, now: UnixMs): number {
  return number + Math.max(0, Math.floor((now - timestamp.start * 1000) / PERIOD_MS));
}

/** When the period `number` ends. All periods have the same length, so the times of one determine those of all. */
export function endOf(period: Period, number = period.number): UnixMs {
  return period.timestamp.start * 1000 + (number - period.number + 1) * PERIOD_MS;
}

/** The watched members; undefined where the committee is not known. */
export interface WatchedMembers {
  readonly current: readonly number[] | undefined;
  readonly next: readonly number[] | undefined;
}

/**
 * The committees at `now`: at the end of a period the next committee becomes the current one, and is not requested
 * again.
 */
export function watchedMembers(
  { isWatched }: MembersOptions,
  { period, committees = [] }: SyncCommittee,
  now: UnixMs,
): WatchedMembers {
  const membersOf = (number: number): readonly number[] | undefined =>
    committees.find((one) => one.period === number)?.validators.filter(isWatched);
  if (!period) return { current: undefined, next: undefined };
  const current = periodAt(period, now);
  return { current: membersOf(current), next: membersOf(current + 1) };
}

/** When the members that are shown change without a poll; Infinity: never. */
export function nextMembersChange({ period, committees = [] }: SyncCommittee, now: UnixMs): UnixMs {
  if (!period) return Number.POSITIVE_INFINITY;
  const current = periodAt(period, now);
  return committees.some((one) => one.period >= current) ? endOf(period, current) : Number.POSITIVE_INFINITY;
}

/**
 * The periods whose members are to be requested at `now`: the one that was read last, unless it is over, and the next
 * one. None while the service refuses.
 */
export function missingPeriods(
  { operatorAt }: MembersOptions,
  { period, committees = [], membersRefusal }: SyncCommittee,
  now: UnixMs,
): number[] {
  if (!period || now < refusedUntil(membersRefusal, operatorAt)) return [];
  const { number } = period;
  return [number, number + 1].filter(
    (wanted) => endOf(period, wanted) > now && !committees.some((one) => one.period === wanted),
  );
}

/** Whether the period that was read is still current. The end that the service reports may be earlier. */
export function isCurrent({ timestamp, ...rest }: Period, now: UnixMs): boolean {
  const end = Math.min(timestamp.end * 1000, endOf({ timestamp, ...rest }));
  return timestamp.start * 1000 <= now && now < end;
}
