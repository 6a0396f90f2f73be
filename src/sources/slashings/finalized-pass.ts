import { RequestFailed } from '../../api/errors.ts';
import { SECONDS_PER_EPOCH } from '../../lib/chain.ts';
import { countEpoch, skipTo, unstuck } from './count.ts';
import { PATIENCE_MS, seeFinalized, withoutFuture } from './finality.ts';
import type { Step } from './head-pass.ts';
import {
  type EpochRows,
  isAnswer,
  isWhole,
  oddEpoch,
  type Reader,
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

/** Epochs read in one poll: at one request a second the next head pass is not late. */
const EPOCHS_PER_POLL = 12;
/** An epoch this far behind is history to be caught up with, and leaves after everything else. */
const FRESH_EPOCHS = 3;

/**
 * Counts every finalized epoch exactly once, in order. `look` reads the finalized view first; without it the pass goes
 * on with what it last saw. `latest` is the latest epoch where this poll has read it.
 */
export async function finalizedPass(
  reader: Reader,
  previous: Slashings,
  options: FinalizedOptions,
  look: boolean,
  latest: number | undefined,
): Promise<Step> {
  let state = previous;
  let view: EpochRows | undefined;
  if (look) {
    view = await readEpoch(reader, 'finalized', 'finalized_pass');
    state = afterLook(reader, state, view, options, latest);
  }
  const { finalizedEpoch = -1, scannedEpoch } = state;
  if (scannedEpoch === undefined) return { state };
  // What this answer does not call final is not counted now, whatever an earlier one said.
  const newest = Math.min(finalizedEpoch, view?.epoch ?? finalizedEpoch);
  const count = Math.max(0, Math.min(newest - scannedEpoch, EPOCHS_PER_POLL));
  const epochs = Array.from({ length: count }, (_, i) => scannedEpoch + 1 + i);
  const rest = new AbortController();
  const ahead = { ...reader, signal: AbortSignal.any([reader.signal, rest.signal]) };
  const pending = epochs.map((epoch) => {
    if (epoch === view?.epoch) return Promise.resolve(view);
    return readEpoch(ahead, epoch, newest - epoch < FRESH_EPOCHS ? 'finalized_pass' : 'catch_up');
  });
  // Read together, taken in order: those after one that cannot be taken are let go, and their failures with them.
  for (const promise of pending) promise.catch(() => undefined);
  try {
    for (const [i, epoch] of epochs.entries()) {
      const step = await takeEpoch(reader, state, epoch, pending[i] as Promise<EpochRows>);
      state = step.state;
      if (state.scannedEpoch !== epoch) return step;
    }
  } finally {
    rest.abort();
  }
  return { state };
}

function afterLook(
  { chain, now }: Reader,
  previous: Slashings,
  view: EpochRows,
  options: FinalizedOptions,
  latest: number | undefined,
): Slashings {
  const { epoch } = view;
  if (latest !== undefined && (epoch > latest || (epoch === latest && !isWhole(view)))) {
    throw oddEpoch(`epoch ${epoch} is called finalized, and ${latest} the latest`);
  }
  const look = { epoch, readAt: now, ...(latest === undefined ? {} : { head: latest }) };
  const state = withoutFuture(seeFinalized(previous, look), chain, now);
  // At least the newest: a short catch_up gives up the past, not the present.
  const reach = options.sampled ? 1 : Math.max(1, Math.floor(options.catchUpMs / 1000 / SECONDS_PER_EPOCH));
  return skipTo(state, Math.min(epoch, state.finalizedEpoch ?? epoch) - reach);
}

async function takeEpoch(reader: Reader, state: Slashings, epoch: number, pending: Promise<EpochRows>): Promise<Step> {
  let next = state;
  let failure: Error | undefined;
  try {
    const { rows } = await pending;
    for (const row of unreadBlocks(next, rows, 'final')) {
      const slashings = await readSlashings(reader, next, row);
      next = slashings.state;
      failure ??= slashings.failure;
    }
    const open = rows.some((row) => row.status === '0');
    if (!failure && (!open || isOutOfPatience(next, reader.now))) return { state: countEpoch(next, epoch, rows) };
  } catch (error) {
    if (reader.signal.aborted || !(error instanceof Error)) throw error;
    failure = error;
  }
  if (failure && !isTheEpochs(failure)) return { state: unstuck(next), failure };
  if (failure && isOutOfPatience(next, reader.now)) return { state: skipTo(next, epoch) };
  return { state: { ...next, stuckSince: next.stuckSince ?? reader.now }, failure };
}

/** An epoch that always times out must not hold the others for ever. */
function isTheEpochs(failure: Error): boolean {
  return isAnswer(failure) || (failure instanceof RequestFailed && failure.reason === 'timeout');
}

function isOutOfPatience(state: Slashings, now: number): boolean {
  return state.stuckSince !== undefined && now - state.stuckSince >= PATIENCE_MS;
}
