import type { Finality } from '../../api/endpoints.ts';
import { EPOCHS_PER_DAY, epochEnd, SECONDS_PER_SLOT } from '../../facts/chain.ts';
import { MS_PER_MINUTE } from '../../toolkit/lib/duration.ts';
import type { Timing } from '../read.ts';
import type { Detection, Source } from '../source.ts';
import { withKeys } from '../watched-keys.ts';
import { NO_SLASHINGS } from './count.ts';
import { EVENTS } from './events.ts';
import { finalizedRead } from './finalized.ts';
import { headRead } from './head.ts';
import { slashingFamilies } from './metrics.ts';
import type { SlashingsOptions } from './options.ts';
import { ownBlocksRead } from './own-blocks.ts';
import { slashingsPage } from './page.ts';
import { isSampled } from './pass.ts';
import { slashingsProbing } from './probe.ts';
import { Slashings } from './state.ts';

/** Head, finality and slashings of one chain. */
export function slashingsSource(options: SlashingsOptions): Source<Slashings> {
  return withKeys(options, sourceOf);
}

function sourceOf(options: SlashingsOptions): Source<Slashings> {
  return {
    name: 'slashings',
    chain: options.chain,
    reads: [headRead(options), finalizedRead(options), ...(options.readsOwnBlocks ? [ownBlocksRead(options)] : [])],
    state: Slashings,
    empty: NO_SLASHINGS,
    share: (allowedPerDay) => shareOf(allowedPerDay / options.chains) / options.chains,
    metrics: (value, timing) => slashingFamilies(options, value, timing),
    events: EVENTS,
    page: (value, timing, { linked }) => slashingsPage(options, value, timing, linked),
    more: {
      probe: slashingsProbing(options),
      gives: (state) => ({ showsSlashed: true, finality: finalityOf(options, state) }),
      detects: (timing) => detectionsOf(options, timing),
      leavesOut(timing) {
        if (timing.of('head') !== undefined) return '';
        return isSampled(timing)
          ? 'newest finalized epoch only, the others are skipped'
          : 'no head passes, every finalized epoch';
      },
    },
  };
}

function finalityOf({ chain }: SlashingsOptions, state: Slashings): Finality | undefined {
  const { finalizedEpoch, finalityReadAt: readAt } = state;
  return finalizedEpoch === undefined || readAt === undefined
    ? undefined
    : { at: epochEnd(chain, finalizedEpoch), readAt };
}

/**
 * The weight by the allowed requests a day for a chain. If these do not pay for every finalized epoch, your own machines and validators are
 * worth more than a sample of the network. Above that the weight rises evenly, so that no interval jumps.
 */
function shareOf(allowedPerDay: number): number {
  const rise = (allowedPerDay - EPOCHS_PER_DAY) / (600 - EPOCHS_PER_DAY);
  return 0.3 + 2.7 * Math.max(0, Math.min(1, rise));
}

/** The service reports a slot at its end, and two to three epochs later as final. */
const FINAL_MS = 20 * MS_PER_MINUTE;

function detectionsOf(options: SlashingsOptions, timing: Timing): Detection[] {
  const { groups, readsProposerNames, readsOwnBlocks, feeRecipients } = options;
  const headMs = timing.of('head');
  const isGappy = headMs === undefined && isSampled(timing);
  const final = isGappy ? 'by chance: epochs are skipped' : FINAL_MS + (headMs ?? timing.intervalMs);
  const named = readsProposerNames ? final : Infinity;
  const early = headMs === undefined ? final : SECONDS_PER_SLOT * 1000 + headMs;
  const all: Detection[] = [
    ['BeaconchainWatchedValidatorSlashed', 'a validator is slashed as an attester', early],
    ['BeaconchainWatchedValidatorSlashed', 'a validator is slashed as a proposer', named],
    ['BeaconchainWatchedProposalMissed', 'a proposal is missed', final],
    ...(readsOwnBlocks && feeRecipients.length > 0
      ? [['BeaconchainFeeRecipientUnexpected', 'a block pays another address', final] as const]
      : []),
  ];
  return groups.length > 0 ? all : [];
}
