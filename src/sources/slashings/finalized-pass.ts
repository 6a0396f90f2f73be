import { RequestFailed } from '../../api/errors.ts';
import { SECONDS_PER_EPOCH } from '../../lib/chain.ts';
import { countEpoch, skipTo, unstuck } from './count.ts';
import type { Step } from './head-pass.ts';
import { type EpochRows, isAnswer, type Reader, readEpoch, readSlashings, unreadBlocks } from './read.ts';
import type { Slashings } from './schema.ts';

export interface FinalizedOptions {
  /** How far to read back after a stop, milliseconds. */
  readonly catchUpMs: number;
  /** Read only the newest finalized epoch and skip those between: the budget allows no more. */
  readonly sampled: boolean;
}

/** A finalized epoch that cannot be read, or still holds scheduled slots, is waited for this long. */
const PATIENCE_MS = 3_600_000;
/** Epochs read in one poll: at one request a second the next head pass is not late. */
const EPOCHS_PER_POLL = 12;
/** An epoch this far behind is history to be caught up with, and leaves after everything else. */
const FRESH_EPOCHS = 3;

/**
 * Counts every finalized epoch exactly once, in order. `look` reads the finalized view first; without it the pass goes
 * on with what it last saw.
 */
export async function finalizedPass(
  reader: Reader,
  previous: Slashings,
  options: FinalizedOptions,
  look: boolean,
): Promise<Step> {
  let state = previous;
  let view: EpochRows | undefined;
  if (look) {
    view = await readEpoch(reader, 'finalized', 'finalized_pass');
    state = seeFinalized(state, view.epoch, options);
  }
  const { finalizedEpoch, scannedEpoch } = state;
  if (finalizedEpoch === undefined || scannedEpoch === undefined) return { state };
  const last = Math.min(finalizedEpoch, scannedEpoch + EPOCHS_PER_POLL);
  const epochs = Array.from({ length: last - scannedEpoch }, (_, i) => scannedEpoch + 1 + i);
  const rest = new AbortController();
  const ahead = { ...reader, signal: AbortSignal.any([reader.signal, rest.signal]) };
  const pending = epochs.map((epoch) => {
    if (epoch === view?.epoch) return Promise.resolve(view);
    return readEpoch(ahead, epoch, finalizedEpoch - epoch < FRESH_EPOCHS ? 'finalized_pass' : 'catch_up');
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

function seeFinalized(state: Slashings, epoch: number, options: FinalizedOptions): Slashings {
  // History is not news: the first epoch to be counted is the one that is finalized now.
  const scannedEpoch = state.scannedEpoch ?? epoch - 1;
  const finalizedEpoch = Math.max(epoch, state.finalizedEpoch ?? 0);
  const seen = { ...state, scannedEpoch, finalizedEpoch, finalizedReadAtHead: state.headEpoch ?? 0 };
  // At least the newest: a short catch_up gives up the past, not the present.
  const reach = options.sampled ? 1 : Math.max(1, Math.floor(options.catchUpMs / 1000 / SECONDS_PER_EPOCH));
  return skipTo(seen, finalizedEpoch - reach);
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
