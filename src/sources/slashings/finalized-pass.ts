import type { SlotRow } from '../../api/answers/slots.ts';
import { type Chain, epochAt, MS_PER_EPOCH, periodOf, SECONDS_PER_EPOCH } from '../../facts/chain.ts';
import { watches } from '../../facts/watch.ts';
import { MS_PER_HOUR } from '../../toolkit/lib/duration.ts';
import type { Milliseconds, UnixMs } from '../../toolkit/lib/time.ts';
import { readSeats } from '../answers.ts';
import type { Timing } from '../source.ts';
import { countEpoch, countProposals, skipTo, watchedProposals } from './count.ts';
import {
  attempt,
  decided,
  implausible,
  isRequestSpecific,
  isTied,
  type PollContext,
  readEpoch,
  readProposerNames,
  readSlashings,
  type Step,
  unreadBlocks,
} from './read.ts';
import type { EpochRows, Slashings } from './schema.ts';

/** Finality is at least two epochs behind the head: consensus-specs phase0, weigh_justification_and_finalization. */
const MIN_LAG = 2;
/** The known finality goes back after so many lower answers in a row, of which the last is an hour after the first. */
const LOWER_ANSWERS = 3;
/** How long an epoch that cannot be counted is read again, and for how long in addition the names of its proposers. */
const GIVE_UP_AFTER_MS = MS_PER_HOUR;
/** At one request a second, this many epochs do not delay the next head pass. */
const MAX_EPOCHS_PER_POLL = 12;
/** Epochs further behind are caught up with, at the lowest priority. */
const FRESH_EPOCHS = 3;

/**
 * Counts every finalized epoch exactly once, in order. Where the budget does not allow that, only the newest one is read.
 * @param isHeadKnown False after a head pass that failed: then finality may have advanced, although the head epoch has not
 * @throws when the finalized view cannot be read or is not plausible
 */
export async function finalizedPass(context: PollContext, previous: Slashings, isHeadKnown: boolean): Promise<Step> {
  const { coverage, intervalMs } = context.timing;
  // Where an interval is no longer than an epoch, each epoch can be read although the coverage is `sampled`.
  const sampled = coverage === 'sampled' && intervalMs > MS_PER_EPOCH;
  const isAdvanced = previous.finalizedEpoch === undefined || previous.isFinalityDue === true;
  let state = previous;
  /** By epoch, because the view is one of those to count, and a tie reads the next one ahead. */
  const answers = new Map<number, EpochRows>();
  if (coverage !== 'full' || !isHeadKnown || isAdvanced) {
    const view = await readEpoch(context, 'finalized', 'finalized_pass');
    answers.set(view.epoch, view);
    state = afterFinality(context, state, view.epoch, sampled);
  }
  const { scannedEpoch } = state;
  if (scannedEpoch === undefined) return { state };
  const newest = newestToCount(state);
  const read = async (epoch: number): Promise<EpochRows> => {
    const priority = newest - epoch < FRESH_EPOCHS ? 'finalized_pass' : 'catch_up';
    const answer = answers.get(epoch) ?? (await readEpoch(context, epoch, priority));
    answers.set(epoch, answer);
    return answer;
  };
  const last = Math.min(newest, scannedEpoch + MAX_EPOCHS_PER_POLL);
  for (let epoch = scannedEpoch + 1; epoch <= last; epoch += 1) {
    const step = await countNext(context, state, epoch, read, !sampled);
    ({ state } = step);
    if (state.scannedEpoch !== epoch) return step;
  }
  return { state };
}

function afterFinality(
  { options: { chain, catchUpMs }, api, events }: PollContext,
  previous: Slashings,
  epoch: number,
  sampled: boolean,
): Slashings {
  const state = withFinality(previous, epoch, chain, api.now());
  const { finalizedEpoch = epoch } = state;
  const before = previous.finalizedEpoch ?? epoch;
  if (finalizedEpoch < before) events.push({ type: 'finality_back', from: before, to: finalizedEpoch });
  // At least the newest epoch is counted, even if catch_up is short.
  const reach = sampled ? 1 : Math.max(1, Math.floor(catchUpMs / 1000 / SECONDS_PER_EPOCH));
  return skipTo({ ...state, isFinalityDue: false }, finalizedEpoch - reach);
}

/**
 * The state after an answer that names `epoch` as the finalized one. An answer that is not lower than the known epoch is
 * believed. A lower one is ignored, because it may come from a node that lags, unless all answers of an hour are lower.
 * @throws RequestFailed when the epoch cannot be final by our clock: then epochs would be counted that are not final
 */
export function withFinality(state: Slashings, epoch: number, chain: Chain, now: UnixMs): Slashings {
  const newest = epochAt(chain, now) - MIN_LAG;
  if (epoch > newest) throw implausible(`epoch ${epoch} is reported as finalized, but by our clock ${newest} can be`);
  const { finalizedEpoch: known = epoch, lowerFinality: lower } = state;
  // The first epoch to count is the one that is finalized now: earlier epochs are not read.
  const { scannedEpoch = epoch - 1 } = state;
  if (epoch >= known) return { ...state, finalizedEpoch: epoch, scannedEpoch, lowerFinality: undefined };
  // A time in the future was noted before the clock was set back.
  const next = { epoch, since: Math.min(lower?.since ?? now, now), answers: (lower?.answers ?? 0) + 1 };
  if (next.answers < LOWER_ANSWERS || now - next.since < GIVE_UP_AFTER_MS) return { ...state, lowerFinality: next };
  // Epochs that cannot be final yet were counted while our clock was wrong, so that they are still to be counted. All
  // others stay counted.
  const scanned = Math.min(scannedEpoch, newest);
  return { ...state, finalizedEpoch: epoch, scannedEpoch: scanned, lowerFinality: undefined };
}

/**
 * Counts the next finalized epoch. Until it can be counted completely, it is read again, for up to an hour.
 * @param readsNext Whether the budget allows reading the epoch after it.
 */
async function countNext(
  context: PollContext,
  previous: Slashings,
  epoch: number,
  read: (epoch: number) => Promise<EpochRows>,
  readsNext: boolean,
): Promise<Step> {
  const { timing, options, events } = context;
  const { now } = timing;
  const { tried = { at: now, epochMs: 0, namesMs: 0 } } = previous;
  const ms = ownTimeSince(tried.at, timing);
  const epochMs = tried.epochMs + ms;
  const isLastAttempt = epochMs >= GIVE_UP_AFTER_MS;
  const answer = await attempt(context, () => read(epoch));
  if (answer instanceof Error) {
    // During an outage, or while the service refuses all requests, no epoch is given up.
    if (!isRequestSpecific(answer)) return { state: previous, failure: answer };
    if (isLastAttempt) return { state: skipTo(previous, epoch) };
    return { state: { ...previous, tried: { ...tried, at: now, epochMs } }, failure: answer };
  }
  const next = isTied(answer) && readsNext ? await attempt(context, () => read(epoch + 1)) : undefined;
  const known = decided(answer, next instanceof Error ? undefined : next);
  const isGuess = isTied(known) && (isLastAttempt || !readsNext);
  const decision = isGuess ? decided(answer, undefined, true) : known;
  const { rows } = decision;
  const slashings = await readSlashings(context, previous, unreadBlocks(previous, rows));
  const readFailure = next instanceof Error ? next : slashings.failure;
  if (readFailure && !isRequestSpecific(readFailure)) return { state: slashings.state, failure: readFailure };
  const names = await readProposerNames(context, slashings.state, rows);
  const { state } = names;
  const isOpen = rows.some((row) => row.status === '0') || unreadBlocks(state, rows).length > 0;
  const namesMs = tried.namesMs + (names.failure ? ms : 0);
  if ((isOpen && !isLastAttempt) || (names.failure && namesMs < GIVE_UP_AFTER_MS)) {
    const soFar = { at: now, epochMs: isOpen ? epochMs : tried.epochMs, namesMs };
    return { state: { ...state, tried: soFar }, failure: readFailure ?? names.failure };
  }
  if (names.failure) events.push({ type: 'names_unreadable', err: names.failure.message });
  if (isGuess) events.push({ type: 'blocks_tied', epoch });
  const proposals = watchedProposals(decision, options.watch);
  for (const proposal of proposals) {
    if (proposal.status !== 'proposed') events.push({ type: 'missed_proposal', ...proposal });
  }
  const counted = countProposals(countEpoch(state, epoch, rows), proposals);
  return { state: await countSeats(context, counted, epoch, rows) };
}

/**
 * Counts the seats of watched validators in the canonical blocks of a finalized epoch. Members are requested here once a
 * period, and only if the other source does not know them: at a first start, and for a period that was over at the start.
 * An epoch whose members cannot be read is left out: counting never waits for them.
 */
async function countSeats(
  context: PollContext,
  previous: Slashings,
  epoch: number,
  rows: readonly SlotRow[],
): Promise<Slashings> {
  const { options, api, signal, events } = context;
  const { chain, watch, seatsOf } = options;
  if (!seatsOf) return previous;
  const period = periodOf(epoch);
  let { committee } = previous;
  let seats = seatsOf(period) ?? (committee?.period === period ? committee.seats : undefined);
  if (!seats) {
    const read = await attempt(context, () => readSeats(api, chain, period, signal));
    committee = { period, seats: read instanceof Error ? [] : (read ?? []) };
    ({ seats } = committee);
    if (seats.length === 0) events.push({ type: 'members_unknown', period });
  }
  const own = seats.flatMap((validator, position) => (watches(watch, validator) ? [position] : []));
  const { participated, missed } = participationIn(rows, own);
  const { totals } = previous;
  const syncDuties = {
    participated: totals.syncDuties.participated + participated,
    missed: totals.syncDuties.missed + missed,
  };
  return { ...previous, committee, totals: { ...totals, syncDuties } };
}

/** Pure. Bit i of the aggregate of a block is the seat at position i of its committee (consensus-specs altair). */
export function participationIn(
  rows: readonly SlotRow[],
  positions: readonly number[],
): { participated: number; missed: number } {
  let [participated, missed] = [0, 0];
  for (const { status, syncaggregate_bits: bits } of rows) {
    if (status !== '1' || !bits) continue;
    const bytes = Buffer.from(bits.slice(2), 'hex');
    for (const position of positions) {
      if (((bytes[position >> 3] ?? 0) >> (position & 7)) & 1) participated += 1;
      else missed += 1;
    }
  }
  return { participated, missed };
}

/**
 * The time of our own trying since the last attempt, at most an interval: for the rest of the time the program slept, or
 * its requests were refused. None if the clock was set back.
 */
function ownTimeSince(at: UnixMs, { now, intervalMs }: Timing): Milliseconds {
  return Math.max(0, Math.min(now - at, intervalMs));
}

export function hasBacklog(state: Slashings): boolean {
  return state.scannedEpoch !== undefined && state.scannedEpoch < newestToCount(state);
}

/** Only epochs that the last answer reports as final are counted, even if an earlier one reported a newer one. */
function newestToCount({ finalizedEpoch = -1, lowerFinality }: Slashings): number {
  return lowerFinality?.epoch ?? finalizedEpoch;
}
