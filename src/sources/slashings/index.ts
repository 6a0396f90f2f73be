import { SECONDS_PER_DAY, SECONDS_PER_EPOCH } from '../../lib/chain.ts';
import { nextTick, pollsPerDay, type Source } from '../source.ts';
import { NO_SLASHINGS } from './count.ts';
import { nextSlashingsChange, slashingFamilies } from './metrics.ts';
import { pollSlashings, type SlashingsOptions, slashingsDue } from './poll.ts';
import { Slashings } from './schema.ts';

const EPOCHS_PER_DAY = SECONDS_PER_DAY / SECONDS_PER_EPOCH;

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
      return attempts.failing ? tick : slashingsDue(value, timing, tick);
    },
    // A head pass each interval, and each epoch once more when it has passed and once when it is final.
    requestsPerDay: (intervalMs) => pollsPerDay(intervalMs) + 2 * EPOCHS_PER_DAY,
    poll: (api, previous, timing, signal) => pollSlashings(options, api, previous, timing, signal),
    families: (value, timing) => slashingFamilies(options, value, timing),
    nextChange: nextSlashingsChange,
  };
}
