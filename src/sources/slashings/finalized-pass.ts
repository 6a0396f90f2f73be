import { RequestFailed } from '../../api/errors.ts';
import { SECONDS_PER_EPOCH } from '../../lib/chain.ts';
import type { UnixMs } from '../../lib/time.ts';
import { countEpoch, skipTo, withNewHour } from './count.ts';
import { GIVE_UP_AFTER_MS, withFinality, withoutFutureScan } from './finality.ts';
import type { Step } from './head-pass.ts';
import { countProposals, watchedProposals } from './proposals.ts';
import { mayWaitForNames, readProposerNames } from './proposer-names.ts';
import {
  type EpochRows,
  implausible,
  isRequestSpecific,
  isWhole,
  type PollContext,
  readEpoch,
  readSlashings,
  unreadBlocks,
} from './read.ts';
import type { Proposal, Slashings } from './schema.ts';

export interface FinalizedOptions {
  /** Read only the newest finalized epoch and skip the ones between, because the budget allows no more. */
  readonly sampled: boolean;
  /** Read the finalized view first; otherwise continue with the known finality. */
  readonly readsFinality: boolean;
  /** The latest epoch, if this poll has read it. */
  readonly latest: number | undefined;
}

interface FinalizedStep extends Step {
  /** Missed and orphaned proposals of watched validators in the epochs that were counted. */
  readonly missed: readonly Proposal[];
}

/** At one request a second, this many epochs do not delay the next head pass. */
const MAX_EPOCHS_PER_POLL = 12;
/** Epochs further behind are caught up with, at the lowest priority. */
const FRESH_EPOCHS = 3;

/** Counts every finalized epoch exactly once, in order. */
export async function finalizedPass(
  context: PollContext,
  previous: Slashings,
  options: FinalizedOptions,
): Promise<FinalizedStep> {
  let state = previous;
  let view: EpochRows | undefined;
  const missed: Proposal[] = [];
  if (options.readsFinality) {
    view = await readEpoch(context, 'finalized', 'finalized_pass');
    state = afterFinality(context, state, view, options);
  }
  const { finalizedEpoch = -1, scannedEpoch } = state;
  if (scannedEpoch === undefined) return { state, missed };
  // Only epochs that this response reports as final are counted, even if an earlier response reported a newer one.
  const newest = Math.min(finalizedEpoch, view?.epoch ?? finalizedEpoch);
  const count = Math.max(0, Math.min(newest - scannedEpoch, MAX_EPOCHS_PER_POLL));
  const epochs = Array.from({ length: count }, (_, i) => scannedEpoch + 1 + i);
  const drop = new AbortController();
  const droppable = { ...context, signal: AbortSignal.any([context.signal, drop.signal]) };
  const pending = epochs.map((epoch) => {
    if (epoch === view?.epoch) return Promise.resolve(view);
    return readEpoch(droppable, epoch, newest - epoch < FRESH_EPOCHS ? 'finalized_pass' : 'catch_up');
  });
  // The epochs are read at once and counted in order. When one cannot be counted, the rest is dropped, with its failures.
  for (const promise of pending) promise.catch(() => undefined);
  try {
    for (const [i, epoch] of epochs.entries()) {
      const step = await countWhenRead(context, state, epoch, pending[i] as Promise<EpochRows>, options.sampled);
      state = step.state;
      missed.push(...step.missed);
      if (state.scannedEpoch !== epoch) return { ...step, missed };
    }
  } finally {
    drop.abort();
  }
  return { state, missed };
}

function afterFinality(
  { options: { catchUpMs }, chain, now }: PollContext,
  previous: Slashings,
  view: EpochRows,
  { sampled, latest }: FinalizedOptions,
): Slashings {
  const { epoch } = view;
  if (latest !== undefined && (epoch > latest || (epoch === latest && !isWhole(view)))) {
    throw implausible(`epoch ${epoch} is reported as finalized, but ${latest} as the latest`);
  }
  const report = { epoch, readAt: now, ...(latest === undefined ? {} : { head: latest }) };
  const state = withoutFutureScan(withFinality(previous, report), chain, now);
  // At least the newest epoch is counted, even if catch_up is short.
  const reach = sampled ? 1 : Math.max(1, Math.floor(catchUpMs / 1000 / SECONDS_PER_EPOCH));
  return skipTo(state, Math.min(epoch, state.finalizedEpoch ?? epoch) - reach);
}

async function countWhenRead(
  context: PollContext,
  state: Slashings,
  epoch: number,
  pending: Promise<EpochRows>,
  sampled: boolean,
): Promise<FinalizedStep> {
  const { now, signal } = context;
  let next = state;
  let failure: Error | undefined;
  try {
    const read = await pending;
    for (const row of unreadBlocks(next, read.rows, 'final')) {
      const slashings = await readSlashings(context, next, row);
      next = slashings.state;
      failure ??= slashings.failure;
    }
    if (!failure) return await countUnlessOpen(context, next, read, sampled);
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    failure = error;
  }
  if (!isFaultOfEpoch(failure)) return { state: withNewHour(next), failure, missed: [] };
  if (hasWaitedLong(next, now)) return { state: skipTo(next, epoch), missed: [] };
  return { ...waiting(next, now), failure, missed: [] };
}

/** Counts an epoch whose slashings are read, unless it may still wait for names or for slots that are scheduled. */
async function countUnlessOpen(
  context: PollContext,
  previous: Slashings,
  read: EpochRows,
  sampled: boolean,
): Promise<FinalizedStep> {
  const { now, options } = context;
  const { state, failure } = await readProposerNames(context, previous, read.rows);
  // With sampled coverage, the next poll would skip an epoch that waits.
  const hasOpenNames = failure !== undefined && !sampled && mayWaitForNames(state, now);
  const isOpen = hasOpenNames || read.rows.some((row) => row.status === '0');
  if (isOpen && !hasWaitedLong(state, now)) return { ...waiting(state, now), failure, missed: [] };
  if (failure) options.onUnnamed(failure);
  const proposals = watchedProposals(read, options.watch);
  const missed = proposals.filter(({ status }) => status !== 'proposed');
  return { state: countProposals(countEpoch(state, read.epoch, read.rows), proposals), missed };
}

/** A time in the future was noted before the clock was set back. */
function waiting(state: Slashings, now: UnixMs): Step {
  return { state: { ...state, stuckSince: Math.min(state.stuckSince ?? now, now) } };
}

/** Whether the failure concerns only the epoch. An epoch that always times out must not block the others forever. */
function isFaultOfEpoch(failure: Error): boolean {
  return isRequestSpecific(failure) || (failure instanceof RequestFailed && failure.reason === 'timeout');
}

function hasWaitedLong(state: Slashings, now: UnixMs): boolean {
  return state.stuckSince !== undefined && now - state.stuckSince >= GIVE_UP_AFTER_MS;
}
