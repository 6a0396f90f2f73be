import { RequestFailed } from '../../api/errors.ts';
import { SECONDS_PER_EPOCH } from '../../lib/chain.ts';
import { countEpoch, skipTo, unstuck } from './count.ts';
import { GIVE_UP_AFTER_MS, withFinality, withoutFutureScan } from './finality.ts';
import type { Step } from './head-pass.ts';
import {
  type EpochRows,
  implausibleEpoch,
  isRequestSpecific,
  isWhole,
  type PollContext,
  readEpoch,
  readSlashings,
  unreadBlocks,
} from './read.ts';
import type { Slashings } from './schema.ts';

export interface FinalizedOptions {
  /** How far to read back after a stop, milliseconds. */
  readonly catchUpMs: number;
  /** Read only the newest finalized epoch and skip those between: the budget allows no more. */
  readonly sampled: boolean;
}

/** The most epochs in one poll: at one request a second they do not delay the next head pass. */
const EPOCHS_PER_POLL = 12;
/** Epochs further behind are caught up with, at the lowest priority. */
const FRESH_EPOCHS = 3;

/**
 * Counts every finalized epoch exactly once, in order. With `readsFinality` it reads the finalized view first; otherwise it
 * goes on with the finality that is known. `latest` is the latest epoch, if this poll has read it.
 */
export async function finalizedPass(
  context: PollContext,
  previous: Slashings,
  options: FinalizedOptions,
  readsFinality: boolean,
  latest: number | undefined,
): Promise<Step> {
  let state = previous;
  let view: EpochRows | undefined;
  if (readsFinality) {
    view = await readEpoch(context, 'finalized', 'finalized_pass');
    state = afterFinality(context, state, view, options, latest);
  }
  const { finalizedEpoch = -1, scannedEpoch } = state;
  if (scannedEpoch === undefined) return { state };
  // Nothing is counted that this answer does not call final, whatever an earlier one said.
  const newest = Math.min(finalizedEpoch, view?.epoch ?? finalizedEpoch);
  const count = Math.max(0, Math.min(newest - scannedEpoch, EPOCHS_PER_POLL));
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
      const step = await countWhenRead(context, state, epoch, pending[i] as Promise<EpochRows>);
      state = step.state;
      if (state.scannedEpoch !== epoch) return step;
    }
  } finally {
    drop.abort();
  }
  return { state };
}

function afterFinality(
  { chain, now }: PollContext,
  previous: Slashings,
  view: EpochRows,
  options: FinalizedOptions,
  latest: number | undefined,
): Slashings {
  const { epoch } = view;
  if (latest !== undefined && (epoch > latest || (epoch === latest && !isWhole(view)))) {
    throw implausibleEpoch(`epoch ${epoch} is called finalized, and ${latest} the latest`);
  }
  const report = { epoch, readAt: now, ...(latest === undefined ? {} : { head: latest }) };
  const state = withoutFutureScan(withFinality(previous, report), chain, now);
  // At least the newest epoch is counted, however short catch_up is.
  const reach = options.sampled ? 1 : Math.max(1, Math.floor(options.catchUpMs / 1000 / SECONDS_PER_EPOCH));
  return skipTo(state, Math.min(epoch, state.finalizedEpoch ?? epoch) - reach);
}

async function countWhenRead(
  context: PollContext,
  state: Slashings,
  epoch: number,
  pending: Promise<EpochRows>,
): Promise<Step> {
  let next = state;
  let failure: Error | undefined;
  try {
    const { rows } = await pending;
    for (const row of unreadBlocks(next, rows, 'final')) {
      const slashings = await readSlashings(context, next, row);
      next = slashings.state;
      failure ??= slashings.failure;
    }
    const open = rows.some((row) => row.status === '0');
    if (!failure && (!open || hasWaitedLong(next, context.now))) return { state: countEpoch(next, epoch, rows) };
  } catch (error) {
    if (context.signal.aborted || !(error instanceof Error)) throw error;
    failure = error;
  }
  if (failure && !isFaultOfEpoch(failure)) return { state: unstuck(next), failure };
  if (failure && hasWaitedLong(next, context.now)) return { state: skipTo(next, epoch) };
  return { state: { ...next, stuckSince: next.stuckSince ?? context.now }, failure };
}

/** Whether the failure is that of the epoch. One that always times out must not hold up the others for ever. */
function isFaultOfEpoch(failure: Error): boolean {
  return isRequestSpecific(failure) || (failure instanceof RequestFailed && failure.reason === 'timeout');
}

function hasWaitedLong(state: Slashings, now: number): boolean {
  return state.stuckSince !== undefined && now - state.stuckSince >= GIVE_UP_AFTER_MS;
}
