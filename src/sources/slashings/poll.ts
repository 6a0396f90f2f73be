import { SECONDS_PER_SLOT, SLOTS_PER_EPOCH } from '../../facts/chain.ts';
import { type Watch, watches } from '../../facts/watch.ts';
import { SECONDS_PER_DAY } from '../../toolkit/lib/duration.ts';
import { elapsed, type UnixMs } from '../../toolkit/lib/time.ts';
import type { Slashed } from '../slashed.ts';
import type { Poll, Timing } from '../source.ts';
import { few } from './count.ts';
import { finalizedPass, hasBacklog } from './finalized-pass.ts';
import {
  attempt,
  decided,
  isRequestSpecific,
  type PollContext,
  readEpoch,
  readSlashings,
  type Step,
  unreadBlocks,
} from './read.ts';
import { type EpochRows, Head, type Slashings } from './schema.ts';

const SEEN_SLOTS = (31 * SECONDS_PER_DAY) / SECONDS_PER_SLOT;
const MAX_ENTRIES = 100_000;

/** After this many attempts at the head, a block is left to the finalized pass. */
const MAX_TRIES = 3;

/** A head pass if one is due, then a finalized pass if the head epoch advanced or epochs are left to read. */
export async function pollSlashings(context: PollContext, previous: Slashings): Promise<Poll<Slashings>> {
  const { options, timing, events } = context;
  let state = withStatus(previous, options.slashedByStatus());
  let failure: Error | undefined;
  if (isHeadPassDue(state, timing)) ({ state, failure } = await headPass(context, state));
  if (!failure || isRequestSpecific(failure)) {
    const pass = await attempt(context, () => finalizedPass(context, state, failure === undefined));
    const step: Step = pass instanceof Error ? { state, failure: pass } : pass;
    ({ state } = step);
    failure ??= step.failure;
  }
  const skipped = state.totals.skippedEpochs - previous.totals.skippedEpochs;
  if (skipped > 0 && timing.coverage !== 'sampled') events.push({ type: 'epochs_skipped', epochs: skipped });
  return { value: prune(state, options.watch), events, failure };
}

/**
 * Reads the latest epoch, once more the epoch that has passed since the last pass (its last slots may have been missing
 * then), and the slashings in the blocks of both. The newest answer is the head, even if an earlier one was further.
 */
async function headPass(context: PollContext, previous: Slashings): Promise<Step> {
  const latest = await attempt(context, () => readEpoch(context, 'latest', 'head_pass'));
  if (latest instanceof Error) return { state: { ...previous, headPassAt: undefined }, failure: latest };
  let state = withHead(previous, latest, context.api.now());
  const epochs = [latest];
  let failure: Error | undefined;
  const { passedEpoch } = state;
  if (passedEpoch !== undefined) {
    const read = await attempt(context, () => readEpoch(context, passedEpoch, 'head_pass'));
    if (read instanceof Error) failure = read;
    else {
      epochs.unshift(decided(read, latest));
      state = { ...state, passedEpoch: undefined };
    }
  }
  for (const { rows } of epochs) {
    const read = await readSlashings(context, state, unreadBlocks(state, rows, MAX_TRIES));
    ({ state } = read);
    failure ??= read.failure;
  }
  // After a failure the retry, which comes before the interval has passed, has to make the pass again.
  return { state: { ...state, headPassAt: failure ? undefined : context.timing.now }, failure };
}

function withHead(state: Slashings, { epoch, rows }: EpochRows, now: UnixMs): Slashings {
  const { headEpoch = -1 } = state;
  const block = rows.findLast((row) => row.status === '1');
  const next = { ...state, headEpoch: epoch, ...(block ? { head: Head.parse({ ...block, readAt: now }) } : {}) };
  if (epoch <= headEpoch) return next;
  return { ...next, isFinalityDue: true, passedEpoch: headEpoch < 0 ? undefined : epoch - 1 };
}

/** Keeps what the status says of slashed validators, also after it is no longer read. */
function withStatus(state: Slashings, slashed: readonly Slashed[]): Slashings {
  const all = new Map(state.slashedByStatus.map((one) => [one.validator, one]));
  for (const one of slashed) all.set(one.validator, { ...all.get(one.validator), ...one });
  return { ...state, slashedByStatus: [...all.values()] };
}

/** When the next poll is due: at once while there are epochs to be read, otherwise for the next head pass. */
export function slashingsDue(state: Slashings, timing: Timing, tick: UnixMs): UnixMs {
  if (hasBacklog(state) && state.tried === undefined) return timing.now;
  if (timing.coverage !== 'full') return tick;
  return isHeadPassDue(state, timing) ? timing.now : (state.headPassAt ?? 0) + timing.intervalMs;
}

function isHeadPassDue({ headPassAt }: Slashings, { coverage, now, intervalMs }: Timing): boolean {
  return coverage === 'full' && elapsed(headPassAt, now) >= intervalMs;
}

/**
 * Drops what is no longer needed: reads of scanned epochs, identities too old to appear again, and the oldest final
 * entries beyond the limit. The slashing of a watched validator is kept for good.
 */
export function prune(whole: Slashings, watch: Watch): Slashings {
  const recent = whole.recent.map((slashing) => ({ ...slashing, validators: few(watch, slashing.validators) }));
  const state = { ...whole, recent };
  const { scannedEpoch = -1 } = state;
  const firstOpenSlot = (scannedEpoch + 1) * SLOTS_PER_EPOCH;
  // By index: at each poll until finality a slashing can have 131,072 entries, and taking them apart takes six times as long.
  const mayGo = (entry: [number, number]): boolean => entry[1] < firstOpenSlot && !watches(watch, entry[0]);
  const seen = state.seen.filter((entry) => entry[1] >= firstOpenSlot - SEEN_SLOTS);
  return {
    ...state,
    namedSlots: state.namedSlots.filter((slot) => slot >= firstOpenSlot),
    reads: state.reads.filter((read) => read.slot >= firstOpenSlot),
    seen: bounded(seen, (entry) => entry[1] < firstOpenSlot),
    slashed: bounded(state.slashed, mayGo),
    proposerSlashed: bounded(state.proposerSlashed, mayGo),
    slashedByStatus: state.slashedByStatus.filter(({ validator }) => watches(watch, validator)),
    missedProposals: state.missedProposals.filter(([validator]) => watches(watch, validator)),
  };
}

function bounded<T>(entries: [T, number][], mayDrop: (entry: [T, number]) => boolean): [T, number][] {
  const over = entries.length - MAX_ENTRIES;
  const oldestFirst = over > 0 ? entries.filter(mayDrop).sort((a, b) => a[1] - b[1]) : [];
  if (oldestFirst.length === 0) return entries;
  const gone = new Set(oldestFirst.slice(0, over));
  return entries.filter((entry) => !gone.has(entry));
}
