import type { Api } from '../../api/client.ts';
import { type Chain, MS_PER_EPOCH } from '../../lib/chain.ts';
import type { Poll, Timing } from '../source.ts';
import { type ObservedSlashing, unstuck } from './count.ts';
import { hasBacklog, isContested } from './finality.ts';
import { finalizedPass } from './finalized-pass.ts';
import { headPass } from './head-pass.ts';
import { isAnswer, type Reader, rowAt } from './read.ts';
import { prune } from './retention.ts';
import type { Slashings } from './schema.ts';
import type { Watch } from './watch.ts';

export interface SlashingsOptions {
  readonly chain: Chain;
  readonly intervalMs: number;
  readonly weight: number;
  readonly catchUpMs: number;
  readonly watch: Watch;
  /** Told of every slashing when it is counted. */
  readonly onSlashing: (slashing: ObservedSlashing) => void;
  /** Told how many finalized epochs were given up, where the budget is not the reason. */
  readonly onSkipped: (epochs: number) => void;
}

/** After a pause of so long nobody has tried, and what could not be read before gets its hour anew. */
const PAUSE_MS = 1_200_000;

/** A head pass if one is due, then a finalized pass if the head epoch advanced or epochs are left to read. */
export async function pollSlashings(
  options: SlashingsOptions,
  api: Api,
  previous: Slashings,
  timing: Timing,
  signal: AbortSignal,
): Promise<Poll<Slashings>> {
  const { chain, watch, catchUpMs, onSlashing, onSkipped } = options;
  const reader: Reader = { chain, api, signal, now: timing.now, report: onSlashing, row: rowAt(chain, timing.now) };
  const paused = timing.now - (previous.polledAt ?? 0) > PAUSE_MS + 2 * timing.intervalMs;
  let state: Slashings = { ...(paused ? unstuck(previous) : previous), polledAt: timing.now };
  let failure: Error | undefined;
  let latest: number | undefined;
  if (isHeadPassDue(state, timing)) {
    ({ state, failure, latest } = await headPass(reader, state));
    // While the service is away or refuses, an epoch that cannot be read is not the epoch's fault.
    if (failure && !isAnswer(failure)) return { value: prune(unstuck(state), watch), failure };
  }
  const look = timing.coverage !== 'full' || failure !== undefined || hasAdvanced(state) || isContested(state);
  if (look || hasBacklog(state)) {
    // Where a pass comes at least once an epoch, nothing has to be skipped but what the service could not give.
    const sampled = timing.coverage === 'sampled' && timing.intervalMs > MS_PER_EPOCH;
    try {
      const pass = await finalizedPass(reader, state, { catchUpMs, sampled }, look, latest);
      state = pass.state;
      failure ??= pass.failure;
    } catch (error) {
      if (signal.aborted || !(error instanceof Error)) throw error;
      if (!isAnswer(error)) state = unstuck(state);
      failure ??= error;
    }
  }
  const skipped = state.totals.skippedEpochs - previous.totals.skippedEpochs;
  if (skipped > 0 && timing.coverage !== 'sampled') onSkipped(skipped);
  const value = prune(state, watch);
  return failure ? { value, failure } : { value };
}

/**
 * Whether there may be news of finality. Where the epoch that passed is not whole yet the head may not have passed it:
 * that can wait for the next poll, once.
 */
function hasAdvanced({ headEpoch = 0, finalizedReadAtHead, reread }: Slashings): boolean {
  const mayWait = reread === headEpoch - 1 && finalizedReadAtHead === headEpoch - 1;
  return finalizedReadAtHead !== headEpoch && !mayWait;
}

/** Unix ms: the next head pass, or at once while epochs wait that can be read. */
export function slashingsDue(state: Slashings, timing: Timing, tick: number): number {
  const waits = state.stuckSince !== undefined || state.finalizedClaim !== undefined;
  if (hasBacklog(state) && !waits) return timing.now;
  if (timing.coverage !== 'full') return tick;
  return isHeadPassDue(state, timing) ? timing.now : (state.headPassAt ?? 0) + timing.intervalMs;
}

function isHeadPassDue(state: Slashings, timing: Timing): boolean {
  if (timing.coverage !== 'full') return false;
  const { headPassAt } = state;
  // A pass in the future was made before the clock was set back.
  return headPassAt === undefined || headPassAt > timing.now || headPassAt + timing.intervalMs <= timing.now;
}
