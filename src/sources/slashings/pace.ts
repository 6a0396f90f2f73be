import { SECONDS_PER_DAY, SECONDS_PER_EPOCH } from '../../lib/chain.ts';
import { evenPace, MS_PER_DAY, type Pace } from '../source.ts';

const EPOCH_MS = SECONDS_PER_EPOCH * 1000;
const EPOCHS_PER_DAY = SECONDS_PER_DAY / SECONDS_PER_EPOCH;

/**
 * What the passes cost, and what goes first when they cost too much (requests a day and chain): a head pass each
 * interval, each passed epoch once more and each finalized one; below one head pass per epoch no head passes but every
 * finalized epoch; below that the newest finalized epoch once per interval.
 */
export function slashingsPace(configuredMs: number, requestsPerDay: number): Pace {
  const slowestHeadMs = Math.max(configuredMs, EPOCH_MS);
  if (requestsPerDay >= fullCost(configuredMs)) return full(configuredMs);
  if (requestsPerDay >= fullCost(slowestHeadMs)) return full(MS_PER_DAY / (requestsPerDay - 2 * EPOCHS_PER_DAY));
  if (requestsPerDay >= EPOCHS_PER_DAY) {
    return { intervalMs: slowestHeadMs, requestsPerDay: EPOCHS_PER_DAY, coverage: 'finalized' };
  }
  return { ...evenPace(slowestHeadMs, requestsPerDay, 1), coverage: 'sampled' };
}

function full(intervalMs: number): Pace {
  return { intervalMs, requestsPerDay: fullCost(intervalMs), coverage: 'full' };
}

/** A pass sees at most one epoch pass that it reads again, however many did. */
function fullCost(intervalMs: number): number {
  const passes = MS_PER_DAY / intervalMs;
  return passes + Math.min(passes, EPOCHS_PER_DAY) + EPOCHS_PER_DAY;
}
