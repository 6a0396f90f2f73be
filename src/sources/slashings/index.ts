import { nextTick, type Source } from '../source.ts';
import { NO_SLASHINGS } from './count.ts';
import { nextSlashingsChange, slashingFamilies } from './metrics.ts';
import type { SlashingsOptions } from './options.ts';
import { slashingsPace } from './pace.ts';
import { pollSlashings, slashingsDue } from './poll.ts';
import { Slashings } from './schema.ts';
import { slashingsSummary } from './summary.ts';

/** Head, finality and slashings of one chain. */
export function slashingsSource(options: SlashingsOptions): Source<Slashings> {
  return {
    name: 'slashings',
    chain: options.chain,
    endpoint: 'epoch_slots',
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
    poll: (api, previous, timing, signal) => pollSlashings(options, api, previous, timing, signal),
    families: (value, timing) => slashingFamilies(options, value, timing),
    summary: (value, timing, polls) => slashingsSummary(options, value, timing, polls),
    nextChange: nextSlashingsChange,
  };
}
