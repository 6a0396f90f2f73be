import type { Api } from '../../api/client.ts';
import { MS_PER_EPOCH } from '../../lib/chain.ts';
import type { UnixMs } from '../../lib/time.ts';
import type { Poll, Timing } from '../source.ts';
import { withNewHour } from './count.ts';
import { hasBacklog, isFinalityDoubtful } from './finality.ts';
import { finalizedPass } from './finalized-pass.ts';
import { headPass } from './head-pass.ts';
import type { SlashingsOptions } from './options.ts';
import { isPlausibleRowAt, isRequestSpecific, type PollContext } from './read.ts';
import { prune } from './retention.ts';
import type { Slashings } from './schema.ts';

/**
 * After a pause this long, the hour restarts for an epoch that could not be read, because it was not tried during the
 * pause.
 */
const PAUSE_MS = 1_200_000;

/** A head pass if one is due, then a finalized pass if the head epoch advanced or epochs are left to read. */
export async function pollSlashings(
  options: SlashingsOptions,
  api: Api,
  previous: Slashings,
  timing: Timing,
  signal: AbortSignal,
): Promise<Poll<Slashings>> {
  const { chain, watch, onMissedProposal, onSkipped } = options;
  const context: PollContext = {
    options,
    chain,
    api,
    signal,
    now: timing.now,
    isPlausible: isPlausibleRowAt(chain, timing.now),
  };
  const paused = timing.now - (previous.polledAt ?? 0) > PAUSE_MS + 2 * timing.intervalMs;
  let state: Slashings = { ...(paused ? withNewHour(previous) : previous), polledAt: timing.now };
  let failure: Error | undefined;
  let latest: number | undefined;
  if (isHeadPassDue(state, timing)) {
    ({ state, failure, latest } = await headPass(context, state));
    if (failure) state = withHeadPassDue(state);
    // During an outage, or while the service refuses all requests, an unreadable epoch is not given up.
    if (failure && !isRequestSpecific(failure)) return { value: prune(withNewHour(state), watch), failure };
  }
  const readsFinality =
    timing.coverage !== 'full' || failure !== undefined || hasAdvanced(state) || isFinalityDoubtful(state);
  if (readsFinality || hasBacklog(state)) {
    // With at least one pass per epoch, the budget requires no epochs to be skipped.
    const sampled = timing.coverage === 'sampled' && timing.intervalMs > MS_PER_EPOCH;
    try {
      const pass = await finalizedPass(context, state, { sampled, readsFinality, latest });
      state = pass.state;
      for (const proposal of pass.missed) onMissedProposal(proposal);
      failure ??= pass.failure;
    } catch (error) {
      if (signal.aborted || !(error instanceof Error)) throw error;
      if (!isRequestSpecific(error)) state = withNewHour(state);
      failure ??= error;
    }
  }
  const skipped = state.totals.skippedEpochs - previous.totals.skippedEpochs;
  if (skipped > 0 && timing.coverage !== 'sampled') onSkipped(skipped);
  const value = prune(state, watch);
  return failure ? { value, failure } : { value };
}

/**
 * Whether finality may have moved. If the passed epoch was not read whole, the head may not really be beyond it: then
 * reading finality can wait for one more poll.
 */
function hasAdvanced({ headEpoch = 0, finalizedReadAtHead, reread }: Slashings): boolean {
  const mayWait = reread === headEpoch - 1 && finalizedReadAtHead === headEpoch - 1;
  return finalizedReadAtHead !== headEpoch && !mayWait;
}

/** When the next poll is due: at once while there are epochs to be read, otherwise for the next head pass. */
export function slashingsDue(state: Slashings, timing: Timing, tick: UnixMs): UnixMs {
  const waits = state.stuckSince !== undefined || state.finalizedClaim !== undefined;
  if (hasBacklog(state) && !waits) return timing.now;
  if (timing.coverage !== 'full') return tick;
  return isHeadPassDue(state, timing) ? timing.now : (state.headPassAt ?? 0) + timing.intervalMs;
}

/** After a failed head pass the retry, which comes before the interval has passed, has to make it again. */
function withHeadPassDue({ headPassAt: _, ...state }: Slashings): Slashings {
  return state;
}

function isHeadPassDue(state: Slashings, timing: Timing): boolean {
  if (timing.coverage !== 'full') return false;
  const { headPassAt } = state;
  // A pass in the future was made before the clock was set back.
  return headPassAt === undefined || headPassAt > timing.now || headPassAt + timing.intervalMs <= timing.now;
}
