import { type Chain, EPOCHS_PER_DAY, epochAt, epochEnd } from '../../facts/chain.ts';
import { MS_PER_DAY } from '../../toolkit/lib/duration.ts';
import type { Time } from '../../toolkit/lib/held-time.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { GIVE_UP_AFTER_MS } from '../answers.ts';
import type { Last, Read, Timing } from '../read.ts';
import { readEpoch } from './blocks.ts';
import { skipTo } from './count.ts';
import { countNext, type ReadRows } from './next-epoch.ts';
import type { SlashingsOptions } from './options.ts';
import { type Context, implausible, isSampled, MIN_LAG, runOf, type Step } from './pass.ts';
import type { EpochRows, Slashings } from './state.ts';

/** Known finality goes back after so many lower responses in a row, the last an hour after the first. */
const LOWER_ANSWERS = 3;
/** At one request a second, this many epochs do not delay the next head pass. */
const MAX_EPOCHS_PER_PASS = 12;
/** Older epochs are read at the lowest priority. */
const FRESH_EPOCHS = 3;

/** Follows finality: after head passes that show a possible advance, otherwise at each interval. */
export function finalizedRead(options: SlashingsOptions): Read<Slashings> {
  return {
    name: 'finalized',
    endpoints: [
      'epoch_slots',
      'attester_slashings',
      ...(options.readsProposerNames ? (['proposer_slashings'] as const) : []),
    ],
    everyMs: options.intervalMs,
    price(pace) {
      const passes = MS_PER_DAY / pace.intervalMs;
      if (pace.beside.includes('head')) return EPOCHS_PER_DAY;
      // A pass less often than once an epoch reads several epochs.
      return isSampled(pace) ? passes : Math.max(passes, EPOCHS_PER_DAY);
    },
    due: whenDue,
    run: runOf(options, finalizedPass),
  };
}

function whenDue(state: Slashings, last: Last, timing: Timing, tick: UnixMs): UnixMs {
  const headMs = timing.of('head');
  if (last.failuresInARow > 0) return tick;
  if (isCatchingUp(state) || (headMs !== undefined && state.isFinalityDue)) return timing.now;
  if (headMs === undefined) return tick;
  // After a failed head pass the head is unknown, so finality may have advanced.
  return state.tried || timing.isFailing('head') ? last.attemptAt + headMs : Infinity;
}

/** Counts final epochs, and reports skipped ones. If the budget allows only samples, each pass skips some. */
async function finalizedPass(context: Context, previous: Slashings): Promise<Step> {
  const pass = await countFinalized(context, previous);
  const epochs = pass.value.totals.skippedEpochs - previous.totals.skippedEpochs;
  if (epochs > 0 && !isSampled(context.timing)) context.events.push({ type: 'epochs_skipped', epochs });
  return pass;
}

/**
 * Counts every finalized epoch exactly once, in order. If the budget does not allow that, reads only the newest one.
 * @throws if the finalized view is unreadable or implausible
 */
async function countFinalized(context: Context, previous: Slashings): Promise<Step> {
  const { timing } = context;
  let state = previous;
  /** By epoch. The view is one of the epochs to count, and a tie reads the next epoch before its turn. */
  const answers = new Map<number, EpochRows>();
  // A backlog needs no view. A retried epoch does: in an outage the view fails first, so the time does not count.
  if (timing.of('head') === undefined || previous.isFinalityDue || !isCatchingUp(previous)) {
    const view = await readEpoch(context, 'finalized', 'finalized_pass');
    answers.set(view.epoch, view);
    state = afterFinality(context, state, view.epoch);
  }
  // A program that starts with a clock far ahead must not skip the future. Until the time has held, it skips nothing.
  const hasHeld = ({ to }: Slashings['stops'][number]): boolean => epochEnd(context.options.chain, to) <= timing.held;
  if (timing.held > -Infinity) state = afterStop({ ...state, stops: state.stops.filter(hasHeld) });
  const newest = newestToCount(state);
  const read: ReadRows = async (epoch) => {
    const priority = newest - epoch < FRESH_EPOCHS ? 'finalized_pass' : 'catch_up';
    const answer = answers.get(epoch) ?? (await readEpoch(context, epoch, priority));
    answers.set(epoch, answer);
    return answer;
  };
  const { scannedEpoch = newest } = state;
  const { from = Infinity } = state.stops.find(hasHeld) ?? {};
  const last = Math.min(newest, scannedEpoch + MAX_EPOCHS_PER_PASS, from - 1);
  for (let epoch = scannedEpoch + 1; epoch <= last; epoch += 1) {
    const step = await countNext(context, state, epoch, read);
    state = step.value;
    if (state.scannedEpoch !== epoch) return step;
  }
  return { value: state };
}

function afterFinality({ options, timing, api, events }: Context, previous: Slashings, epoch: number): Slashings {
  const finalityReadAt = api.now();
  const state = withFinality(previous, epoch, options.chain, { now: finalityReadAt, held: timing.held });
  const { finalizedEpoch = epoch } = state;
  const before = previous.finalizedEpoch ?? epoch;
  if (finalizedEpoch < before) events.push({ type: 'finality_back', from: before, to: finalizedEpoch });
  const next = { ...state, isFinalityDue: false, finalityReadAt };
  return isSampled(timing) ? skipTo({ ...next, stops: [] }, finalizedEpoch - 1) : next;
}

/**
 * Skips the epochs of a stop that are beyond `catch_up`, once all earlier ones are counted. Counts what became final later: returning
 * finality loses no epoch.
 */
function afterStop(state: Slashings): Slashings {
  const {
    stops: [stop, ...later],
    scannedEpoch = -1,
  } = state;
  if (!stop || scannedEpoch < stop.from - 1) return state;
  const isOver = newestToCount(state) >= stop.to;
  const skipped = skipTo(state, Math.min(stop.to, newestToCount(state)));
  return isOver ? afterStop({ ...skipped, stops: later }) : skipped;
}

/**
 * The state after a response that names `epoch` as finalized. Ignores a lower epoch than the known one, because it may come from a lagging
 * node, unless all responses of an hour are lower.
 * @throws RequestFailed if the epoch cannot be final by our clock, because epochs that are not final would count
 */
export function withFinality(state: Slashings, epoch: number, chain: Chain, { now, held }: Time): Slashings {
  const newest = epochAt(chain, now) - MIN_LAG;
  if (epoch > newest)
    throw implausible(`service reports epoch ${epoch} as finalized, but by our clock at most ${newest} can be`);
  const { finalizedEpoch: known = epoch, lowerFinality: lower } = state;
  // Counting starts with the epoch that is final now.
  const { scannedEpoch = epoch - 1 } = state;
  if (epoch >= known) return { ...state, finalizedEpoch: epoch, scannedEpoch, lowerFinality: undefined };
  // A time in the future is from before the clock was set back.
  const next = { epoch, since: Math.min(lower?.since ?? now, now), answers: (lower?.answers ?? 0) + 1 };
  if (next.answers < LOWER_ANSWERS || held - next.since < GIVE_UP_AFTER_MS) return { ...state, lowerFinality: next };
  // Epochs that cannot be final yet were counted by a wrong clock, and count again. All others stay counted.
  const scanned = Math.min(scannedEpoch, newest);
  return { ...state, finalizedEpoch: epoch, scannedEpoch: scanned, lowerFinality: undefined };
}

function isCatchingUp(state: Slashings): boolean {
  return state.tried === undefined && (state.scannedEpoch ?? Infinity) < newestToCount(state);
}

/** The last response decides which epochs are final, even if an earlier one named a newer epoch. */
function newestToCount({ finalizedEpoch = -1, lowerFinality }: Slashings): number {
  return lowerFinality?.epoch ?? finalizedEpoch;
}
