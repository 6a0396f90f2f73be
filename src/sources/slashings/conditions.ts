import { CHAINS, type Chain, SECONDS_PER_EPOCH, slotTime } from '../../lib/chain.ts';
import { MS_PER_DAY, MS_PER_HOUR } from '../../lib/duration.ts';
import type { Milliseconds, UnixMs } from '../../lib/time.ts';
import { watches } from '../../lib/watch.ts';
import { percent, plural, relative } from '../../lib/words.ts';
import { firing, THRESHOLDS } from '../conditions.ts';
import type { Notice } from '../content.ts';
import type { Polls, Timing } from '../source.ts';
import { shownHead, watchedSlashed } from './metrics.ts';
import type { SlashingsOptions } from './options.ts';
import type { Slashings } from './schema.ts';

/** An alert fires for an hour after a block is counted, which is up to an hour after the block. */
const PROPOSER_SLASHING_MS = 2 * MS_PER_HOUR;

/** The alerts that apply to a chain and to the watched validators on it. */
export function slashingsNotices(
  options: SlashingsOptions,
  state: Slashings,
  timing: Timing,
  polls: Polls,
): readonly Notice[] {
  return [
    ...watchedNotices(options, state),
    ...missedNotices(options, state, timing.now),
    ...missedOften(options, state, timing.now),
    ...finalityNotices(options, state, timing, polls),
    ...participationNotices(options, state, timing),
    ...slashingNotices(options, state, timing.now),
    ...scanNotices(options, state),
  ];
}

function watchedNotices({ chain, watch }: SlashingsOptions, state: Slashings): Notice[] {
  const watched = watchedSlashed(watch, state).map(([validator]) => String(validator));
  return watched.length === 0 ? [] : [firing('BeaconchainWatchedValidatorSlashed', watched, chain)];
}

/** Proposals missed in the last day. */
function missedNotices({ chain, watch }: SlashingsOptions, state: Slashings, now: UnixMs): Notice[] {
  const missed = state.missedProposals.filter(
    ([validator, slot]) => watches(watch, validator) && ageOf(chain, slot, now) < MS_PER_DAY,
  );
  const [first] = missed;
  if (!first) return [];
  const validators = missed.map(([validator]) => validator).sort((a, b) => a - b);
  const detail =
    missed.length === 1
      ? `of ${chain} missed its proposal ${relative(slotTime(chain, first[1]) * 1000, now)}`
      : `of ${chain} missed a proposal in the last day`;
  return [firing('BeaconchainWatchedProposalMissed', validators.map(String), detail)];
}

function missedOften({ chain, watch }: SlashingsOptions, state: Slashings, now: UnixMs): Notice[] {
  const ofDay = state.recentProposals.filter(
    ({ validator, slot }) => watches(watch, validator) && ageOf(chain, slot, now) < MS_PER_DAY,
  );
  const missed = ofDay.filter(({ status }) => status !== 'proposed').length;
  if (missed < THRESHOLDS.missed_proposals) return [];
  if (missed / ofDay.length <= THRESHOLDS.missed_proposals_ratio) return [];
  return [firing('BeaconchainWatchedProposalsMissedOften', [chain], `${missed} of ${ofDay.length}`)];
}

/** If the head is not read, the epoch of the last successful poll is used instead, as in the alert rules. */
function finalityNotices(
  { chain }: SlashingsOptions,
  state: Slashings,
  timing: Timing,
  { lastSuccessAt }: Polls,
): Notice[] {
  if (state.finalizedEpoch === undefined) return [];
  const byClock =
    lastSuccessAt === undefined ? 0 : Math.floor((lastSuccessAt / 1000 - CHAINS[chain].genesis) / SECONDS_PER_EPOCH);
  const lag = (shownHead(state, timing)?.epoch ?? byClock) - state.finalizedEpoch;
  return lag > THRESHOLDS.finality_lag_epochs ? [firing('BeaconchainNoFinality', [chain], plural(lag, 'epoch'))] : [];
}

function participationNotices({ chain }: SlashingsOptions, state: Slashings, timing: Timing): Notice[] {
  const share = shownHead(state, timing)?.participation;
  if (share == null || share >= THRESHOLDS.sync_participation_ratio) return [];
  return [firing('BeaconchainSyncParticipationLow', [chain], percent(share))];
}

function slashingNotices({ chain }: SlashingsOptions, state: Slashings, now: UnixMs): Notice[] {
  const { lastProposerSlashingSlot: last } = state;
  const isNew = last !== undefined && ageOf(chain, last, now) < PROPOSER_SLASHING_MS;
  const ofDay = state.slashed.filter(([, slot]) => ageOf(chain, slot, now) < MS_PER_DAY).length;
  return [
    ...(isNew ? [firing('BeaconchainProposerSlashing', [chain], relative(slotTime(chain, last) * 1000, now))] : []),
    ...(ofDay > THRESHOLDS.mass_slashing_validators
      ? [firing('BeaconchainMassSlashing', [chain], plural(ofDay, 'validator'))]
      : []),
  ];
}

function scanNotices({ chain }: SlashingsOptions, { finalizedEpoch, scannedEpoch }: Slashings): Notice[] {
  if (finalizedEpoch === undefined || scannedEpoch === undefined) return [];
  const lag = finalizedEpoch - scannedEpoch;
  return lag > THRESHOLDS.scan_lag_epochs
    ? [firing('BeaconchainSlashingScanLagging', [chain], plural(lag, 'epoch'))]
    : [];
}

function ageOf(chain: Chain, slot: number, now: UnixMs): Milliseconds {
  return now - slotTime(chain, slot) * 1000;
}
