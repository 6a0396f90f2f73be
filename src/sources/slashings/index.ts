import { EPOCHS_PER_DAY, epochAt, MS_PER_EPOCH } from '../../facts/chain.ts';
import type { Milliseconds } from '../../toolkit/lib/time.ts';
import type { Source } from '../source.ts';
import { NO_SLASHINGS } from './count.ts';
import { EVENTS } from './events.ts';
import { finalizedRead } from './finalized.ts';
import { headRead } from './head.ts';
import { slashingFamilies } from './metrics.ts';
import type { SlashingsOptions } from './options.ts';
import { slashingsPage } from './page.ts';
import { isSampled, MIN_LAG } from './pass.ts';
import { slashingsProbing } from './probe.ts';
import { Slashings } from './state.ts';

/** Head, finality and slashings of one chain. */
export function slashingsSource(options: SlashingsOptions): Source<Slashings> {
  return {
    name: 'slashings',
    chain: options.chain,
    reads: [headRead(options), finalizedRead(options)],
    state: Slashings,
    empty: NO_SLASHINGS,
    share: (allowedPerDay) => shareOf(allowedPerDay / options.chains) / options.chains,
    metrics: (value, timing) => slashingFamilies(options, value, timing),
    events: EVENTS,
    page: (value, timing, { linked }) => slashingsPage(options, value, timing, linked),
    more: {
      probe: slashingsProbing(options),
      gives: (state) => ({ showsSlashed: true, finalityDelayMs: finalityDelayMs(options, state) }),
      leavesOut(timing) {
        if (timing.of('head') !== undefined) return '';
        return isSampled(timing)
          ? 'newest finalized epoch only, the others are skipped'
          : 'no head passes, every finalized epoch';
      },
    },
  };
}

function finalityDelayMs({ chain }: SlashingsOptions, state: Slashings): Milliseconds | undefined {
  const { finalizedEpoch, finalityReadAt } = state;
  if (finalizedEpoch === undefined || finalityReadAt === undefined) return undefined;
  return Math.max(0, epochAt(chain, finalityReadAt) - MIN_LAG - finalizedEpoch) * MS_PER_EPOCH;
}

/**
 * The weight by the requests a day that are allowed for a chain. If they do not pay for every finalized epoch, your own
 * machines and validators are worth more than a sample of the network. Above that the weight rises evenly, so that no
 * interval jumps.
 */
function shareOf(allowedPerDay: number): number {
  const rise = (allowedPerDay - EPOCHS_PER_DAY) / (600 - EPOCHS_PER_DAY);
  return 0.3 + 2.7 * Math.max(0, Math.min(1, rise));
}
