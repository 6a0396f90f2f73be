import { EPOCHS_PER_DAY, MS_PER_EPOCH } from '../../facts/chain.ts';
import { MS_PER_DAY } from '../../toolkit/lib/duration.ts';
import type { Milliseconds } from '../../toolkit/lib/time.ts';
import { partsOf } from '../refusal.ts';
import { COVERAGES, type Coverage, evenPace, nextTick, type Pace, type Source } from '../source.ts';
import { NO_SLASHINGS } from './count.ts';
import { nextSlashingsChange, slashingFamilies } from './metrics.ts';
import type { SlashingsOptions } from './options.ts';
import { pollSlashings, slashingsDue } from './poll.ts';
import { Slashings } from './schema.ts';
import { slashingsSummary } from './summary.ts';

/** Head, finality and slashings of one chain. */
export function slashingsSource(options: SlashingsOptions): Source<Slashings> {
  return {
    name: 'slashings',
    chain: options.chain,
    endpoints: [
      'epoch_slots',
      'attester_slashings',
      ...(options.readsProposerNames ? (['proposer_slashings'] as const) : []),
    ],
    intervalMs: options.intervalMs,
    empty: NO_SLASHINGS,
    state: Slashings,
    due(value, attempts, timing) {
      const tick = nextTick(attempts, timing.intervalMs);
      return attempts.failuresInARow > 0 ? tick : slashingsDue(value, timing, tick);
    },
    isDaily: false,
    weight: options.weight,
    pace: (requestsPerDay, _requestsPerPoll, before) => slashingsPace(options.intervalMs, requestsPerDay, before),
    poll: (api, previous, timing, signal) => pollSlashings({ options, api, timing, signal, events: [] }, previous),
    anew: ({ refusals, tried, ...value }, now) => ({ ...value, ...(tried && { tried: { ...tried, at: now } }) }),
    parts: options.readsProposerNames ? partsOf('proposer_slashings') : partsOf(),
    families: (value, timing) => slashingFamilies(options, value, timing),
    summary: (value, timing, _, linked) => slashingsSummary(options, value, timing, linked),
    nextChange: nextSlashingsChange,
  };
}

/**
 * Reduced coverage is restored when the budget is this many times its cost. The budget rises and falls by some percent
 * with every sweep of a large fleet, and with what others on the account do.
 */
const RESUME_FACTOR = 1.1;

/**
 * The cost of the passes (requests per day for one chain), and what is dropped if the budget is smaller. Full coverage:
 * a head pass each interval, each passed epoch once more, and each finalized epoch. With less than one head pass per
 * epoch: only finalized passes, as often as the budget allows. With less than one of those per epoch: the newest
 * finalized epoch once per interval. `before` is what the last poll covered.
 */
export function slashingsPace(configuredMs: Milliseconds, requestsPerDay: number, before: Coverage = 'full'): Pace {
  const reaches = (coverage: Coverage, cost: number): boolean =>
    requestsPerDay >= (COVERAGES.indexOf(before) > COVERAGES.indexOf(coverage) ? cost * RESUME_FACTOR : cost);
  const slowestHeadMs = Math.max(configuredMs, MS_PER_EPOCH);
  if (reaches('full', fullCost(slowestHeadMs))) {
    const isAffordable = requestsPerDay >= fullCost(configuredMs);
    const intervalMs = isAffordable ? configuredMs : MS_PER_DAY / (requestsPerDay - 2 * EPOCHS_PER_DAY);
    return { intervalMs, requestsPerDay: fullCost(intervalMs), coverage: 'full' };
  }
  const even = evenPace(configuredMs, requestsPerDay, 1);
  if (!reaches('finalized', EPOCHS_PER_DAY)) return { ...even, coverage: 'sampled' };
  // A pass that comes less often than once an epoch reads several.
  return { ...even, requestsPerDay: Math.max(even.requestsPerDay, EPOCHS_PER_DAY), coverage: 'finalized' };
}

/** A head pass reads at most one passed epoch again, however many have passed. */
function fullCost(intervalMs: Milliseconds): number {
  const passes = MS_PER_DAY / intervalMs;
  return passes + Math.min(passes, EPOCHS_PER_DAY) + EPOCHS_PER_DAY;
}
