import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, SECONDS_PER_EPOCH, SLOTS_PER_EPOCH } from '../../lib/chain.ts';
import type { UnixMs } from '../../lib/time.ts';
import type { Period } from './schema.ts';

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
