import type { SlotRow } from '../../api/answers/slots.ts';
import type { Milliseconds } from '../../toolkit/lib/time.ts';
import { attempt, GIVE_UP_AFTER_MS, isRequestSpecific } from '../answers.ts';
import { decided, isTied, readNames, readSlashings, unreadBlocks } from './blocks.ts';
import { countEpoch, countProposals, skipTo, watchedProposals } from './count.ts';
import { withOwnBlocks } from './own-blocks.ts';
import { type Context, implausible, isSampled, type Step } from './pass.ts';
import { countSeats } from './seats.ts';
import type { EpochRows, Slashings, Tried } from './state.ts';

export type ReadRows = (epoch: number) => Promise<EpochRows>;

const LACKING = 'reports more attester slashings than could be read';

/** The result of one attempt at an epoch. */
interface Found {
  /** With the slashings and names that were readable. */
  readonly state: Slashings;
  /** Undefined if the epoch was unreadable. */
  readonly read?: EpochRows;
  /** Whether the first block of a tie counts. */
  readonly isGuess?: boolean;
  /** Whether slots are still scheduled, or anything but the names is unread. */
  readonly isOpen: boolean;
  readonly failure?: Error | undefined;
  readonly namesFailure?: Error | undefined;
}

type Verdict =
  | { readonly do: 'count'; readonly read: EpochRows }
  | { readonly do: 'skip' }
  | { readonly do: 'wait'; readonly tried: Tried | undefined; readonly failure: Error | undefined };

/** Counts the next finalized epoch. Reads it again for up to an hour until all of it counts. */
export async function countNext(context: Context, previous: Slashings, epoch: number, read: ReadRows): Promise<Step> {
  const { tried } = previous;
  // The last attempt may have been about another epoch.
  const ms = tried ? context.ownMs : 0;
  const found = await readWhole(context, previous, epoch, read, isLastAttempt(tried, ms));
  const verdict = verdictOn(found, tried, ms);
  if (verdict.do === 'wait') return { value: { ...found.state, tried: verdict.tried }, failure: verdict.failure };
  return { value: verdict.do === 'skip' ? skipTo(found.state, epoch) : await counted(context, found, verdict.read) };
}

/** Pure. Whether to count an epoch. This attempt adds `ms` to `before`, the time of trying. */
export function verdictOn(found: Omit<Found, 'state'>, before: Tried | undefined, ms: Milliseconds): Verdict {
  const { read, isOpen, failure, namesFailure } = found;
  // An outage, or a refusal of all requests, gives up no epoch.
  if (failure && !isRequestSpecific(failure)) return { do: 'wait', tried: before, failure };
  const { epochMs, namesMs } = before ?? { epochMs: 0, namesMs: 0 };
  const tried = { epochMs: epochMs + (isOpen ? ms : 0), namesMs: namesMs + (namesFailure ? ms : 0) };
  const waitsForNames = namesFailure !== undefined && tried.namesMs < GIVE_UP_AFTER_MS;
  if (waitsForNames || (isOpen && !isLastAttempt(before, ms))) {
    return { do: 'wait', tried, failure: failure ?? namesFailure };
  }
  return read ? { do: 'count', read } : { do: 'skip' };
}

function isLastAttempt(before: Tried | undefined, ms: Milliseconds): boolean {
  return (before?.epochMs ?? 0) + ms >= GIVE_UP_AFTER_MS;
}

/** Reads an epoch and what its blocks announce. In the last attempt, and in a sample, the first block of a tie counts. */
async function readWhole(
  context: Context,
  previous: Slashings,
  epoch: number,
  read: ReadRows,
  isLast: boolean,
): Promise<Found> {
  const answer = await attempt(context, () => read(epoch));
  if (answer instanceof Error) return { state: previous, isOpen: true, failure: answer };
  const readsNext = !isSampled(context.timing);
  const next = isTied(answer) && readsNext ? await attempt(context, () => read(epoch + 1)) : undefined;
  const known = decided(answer, next instanceof Error ? undefined : next);
  const isGuess = isTied(known) && (isLast || !readsNext);
  const own = isGuess ? decided(answer, undefined, true) : known;
  // A scarce budget has no requests for unreadable numbers of slashings, which every block could have.
  const asked = readsNext ? own.rows : own.rows.map(withoutUnknown);
  const slashings = await readSlashings(context, previous, unreadBlocks(previous, asked));
  const [unread] = unreadBlocks(slashings.value, asked);
  const lacking = unread && implausible(`slot ${unread.slot} ${LACKING}`, 'attester_slashings');
  const failure = next instanceof Error ? next : (slashings.failure ?? lacking);
  const isOpen = unread !== undefined || own.rows.some(({ status }) => status === '0');
  if (failure && !isRequestSpecific(failure)) return { state: slashings.value, isOpen, failure };
  const names = await readNames(context, slashings.value, asked);
  return { state: names.value, read: own, isGuess, isOpen, failure, namesFailure: names.failure };
}

function withoutUnknown(row: SlotRow): SlotRow {
  const { attesterslashingscount: attester, proposerslashingscount: proposer } = row;
  return { ...row, attesterslashingscount: attester ?? 0, proposerslashingscount: proposer ?? 0 };
}

async function counted(context: Context, found: Found, read: EpochRows): Promise<Slashings> {
  const { options, events } = context;
  const { epoch, rows } = read;
  if (found.namesFailure) events.push({ type: 'names_unreadable', err: found.namesFailure.message });
  if (found.isGuess) events.push({ type: 'blocks_tied', epoch });
  const proposals = watchedProposals(read, options.watch);
  for (const proposal of proposals) {
    if (proposal.status !== 'proposed') events.push({ type: 'missed_proposal', ...proposal });
  }
  const state = countProposals(countEpoch(found.state, epoch, rows), proposals);
  return countSeats(context, options.readsOwnBlocks ? withOwnBlocks(state, read, proposals) : state, read);
}
