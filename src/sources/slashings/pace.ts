import { EPOCHS_PER_DAY, MS_PER_EPOCH } from '../../lib/chain.ts';
import { MS_PER_DAY } from '../../lib/duration.ts';
import { type Coverage, evenPace, type Pace } from '../source.ts';

/**
 * What was given up comes back when so much more than its cost is there: an allowance rises and falls by some percent
 * with every sweep of a large fleet, and with what others on the account do.
 */
const BACK_WITH = 1.1;

const RANK = { sampled: 0, finalized: 1, full: 2 } as const satisfies Record<Coverage, number>;

/**
 * What the passes cost, and what goes first when they cost too much (requests a day and chain): a head pass each
 * interval, each passed epoch once more and each finalized one; below one head pass per epoch only finalized passes, as
 * often as there is for them; below one of these per epoch the newest finalized epoch once per interval. `before`: what
 * the last poll covered.
 */
export function slashingsPace(configuredMs: number, requestsPerDay: number, before: Coverage = 'full'): Pace {
  const reaches = (coverage: Coverage, cost: number): boolean =>
    requestsPerDay >= (RANK[before] < RANK[coverage] ? cost * BACK_WITH : cost);
  const slowestHeadMs = Math.max(configuredMs, MS_PER_EPOCH);
  if (reaches('full', fullCost(slowestHeadMs))) return full(configuredMs, requestsPerDay);
  const even = evenPace(configuredMs, requestsPerDay, 1);
  if (!reaches('finalized', EPOCHS_PER_DAY)) return { ...even, coverage: 'sampled' };
  // Passes that are rarer than epochs read several each.
  return { ...even, requestsPerDay: Math.max(even.requestsPerDay, EPOCHS_PER_DAY), coverage: 'finalized' };
}

function full(configuredMs: number, requestsPerDay: number): Pace {
  const isAffordable = requestsPerDay >= fullCost(configuredMs);
  const intervalMs = isAffordable ? configuredMs : MS_PER_DAY / (requestsPerDay - 2 * EPOCHS_PER_DAY);
  return { intervalMs, requestsPerDay: fullCost(intervalMs), coverage: 'full' };
}

/** A pass sees at most one epoch pass that it reads again, however many did. */
function fullCost(intervalMs: number): number {
  const passes = MS_PER_DAY / intervalMs;
  return passes + Math.min(passes, EPOCHS_PER_DAY) + EPOCHS_PER_DAY;
}
