import { type Chain, epochAt, MS_PER_EPOCH } from '../../lib/chain.ts';
import type { Look, Slashings } from './schema.ts';

/** Finality is at least two epochs behind the head: consensus-specs phase0, weigh_justification_and_finalization. */
const MIN_LAG = 2;
/** A finalized epoch that cannot be read, or still holds scheduled slots, is waited for this long. */
export const PATIENCE_MS = 3_600_000;

/**
 * What a look at the finalized view teaches. Finality that moved no further than the head did is believed at once.
 * Everything else (it comes nearer to the head, or steps back) is believed when the next look says so too: one odd
 * answer must not have epochs counted that are not final.
 */
export function seeFinalized(state: Slashings, look: Look): Slashings {
  const { finalizedClaim: claim } = state;
  if (isExplained(state, look)) return believe(state, look);
  const agreed = claim && agreedOf(state.finalizedEpoch, claim, look);
  if (!agreed) return { ...state, finalizedClaim: look };
  const believed = believe(state, agreed);
  if (agreed === look) return believed;
  return isExplained(believed, look) ? believe(believed, look) : { ...believed, finalizedClaim: look };
}

function isExplained(state: Slashings, { epoch, readAt, head }: Look): boolean {
  const { finalizedEpoch, finalizedReadAtHead, finalizedFrom: from } = state;
  const fromHead = from ? from.head : finalizedReadAtHead;
  if (finalizedEpoch !== undefined) {
    const moved = epoch - finalizedEpoch;
    if (head !== undefined && fromHead !== undefined) return moved >= 0 && moved <= Math.max(0, head - fromHead);
    if (from) return moved >= 0 && moved <= Math.max(0, Math.ceil((readAt - from.readAt) / MS_PER_EPOCH));
  }
  return head === undefined || epoch <= head - MIN_LAG;
}

/** The part of two looks that both say: the one that is nearer to what is believed. */
function agreedOf(believed: number | undefined, a: Look, b: Look): Look | undefined {
  const [low, high] = a.epoch < b.epoch ? [a, b] : [b, a];
  if (believed === undefined || low.epoch > believed) return low;
  return high.epoch < believed ? high : undefined;
}

function believe({ finalizedClaim: claim, ...state }: Slashings, look: Look): Slashings {
  const { epoch, head } = look;
  // An epoch that was claimed too early to be believed, and is final by now.
  const first = claim && claim.epoch < epoch ? claim.epoch : epoch;
  const { finalizedReadAtHead: _head, ...known } = state;
  return {
    ...known,
    finalizedEpoch: epoch,
    finalizedFrom: measuredFrom(state, look),
    ...(head === undefined ? {} : { finalizedReadAtHead: head }),
    // History is not news: the first epoch to be counted is the one that is finalized at the first look.
    scannedEpoch: state.scannedEpoch ?? first - 1,
  };
}

/** The service keeps answers for a while: after one look that brings nothing new, the next may bring two epochs. */
function measuredFrom({ finalizedEpoch, finalizedFrom: from }: Slashings, look: Look): Slashings['finalizedFrom'] {
  const { epoch, readAt, head } = look;
  const isLate = epoch === finalizedEpoch;
  const forgiven = isLate && from && !from.isLate ? from : undefined;
  return {
    readAt: Math.min(readAt, forgiven?.readAt ?? readAt),
    ...(head === undefined ? {} : { head: Math.min(head, forgiven?.head ?? head) }),
    isLate,
  };
}

/** Whether finality is to be asked for before epochs are counted, although the head has not moved on. */
export function isContested(state: Slashings): boolean {
  const { headEpoch, headClaim, finalizedEpoch, finalizedClaim, finalizedFrom } = state;
  if (finalizedClaim !== undefined || finalizedFrom === undefined) return true;
  const isHeadDoubtful = headClaim !== undefined || (finalizedEpoch ?? 0) >= (headEpoch ?? 0);
  return hasBacklog(state) && isHeadDoubtful;
}

export function hasBacklog({ finalizedEpoch, scannedEpoch }: Slashings): boolean {
  return finalizedEpoch !== undefined && scannedEpoch !== undefined && scannedEpoch < finalizedEpoch;
}

/**
 * A cursor far in the future would not count for as long as it takes the chain to get there. It goes back to what is
 * final when for an hour finality has been behind it and our clock says that its epoch has not begun: a service that
 * lags leads no cursor back, and no epoch is counted twice.
 */
export function withoutFuture(state: Slashings, chain: Chain, now: number): Slashings {
  const { scannedAheadSince: since = now, ...rest } = state;
  const { scannedEpoch, finalizedEpoch } = rest;
  if (scannedEpoch === undefined || finalizedEpoch === undefined) return rest;
  if (scannedEpoch <= finalizedEpoch || scannedEpoch <= epochAt(chain, now)) return rest;
  // A time in the future is of before the clock was set back.
  if (now - since < PATIENCE_MS) return { ...rest, scannedAheadSince: Math.min(since, now) };
  return { ...rest, scannedEpoch: finalizedEpoch };
}
