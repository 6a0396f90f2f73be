import { type Chain, epochAt, MS_PER_EPOCH } from '../../lib/chain.ts';
import type { UnixMs } from '../../lib/time.ts';
import type { FinalityReport, Slashings } from './schema.ts';

/** Finality is at least two epochs behind the head: consensus-specs phase0, weigh_justification_and_finalization. */
const MIN_LAG = 2;
/** How long to wait for a finalized epoch that cannot be read or still contains scheduled slots. */
export const GIVE_UP_AFTER_MS = 3_600_000;

/**
 * The state after a report of the finalized epoch. A report is taken over at once if finality has moved no further than
 * the head. Any other one (finality comes closer to the head, or goes back) is taken over only if the next report
 * agrees: a single wrong response must not cause epochs to be counted that are not final.
 */
export function withFinality(state: Slashings, report: FinalityReport): Slashings {
  const { finalizedClaim: unconfirmed } = state;
  if (isPlausible(state, report)) return takeOver(state, report);
  const agreed = unconfirmed && agreementOf(state.finalizedEpoch, unconfirmed, report);
  if (!agreed) return { ...state, finalizedClaim: report };
  const known = takeOver(state, agreed);
  if (agreed === report) return known;
  return isPlausible(known, report) ? takeOver(known, report) : { ...known, finalizedClaim: report };
}

function isPlausible(state: Slashings, { epoch, readAt, head }: FinalityReport): boolean {
  const { finalizedEpoch, finalizedReadAtHead, finalizedFrom: from } = state;
  const fromHead = from ? from.head : finalizedReadAtHead;
  if (finalizedEpoch !== undefined) {
    const moved = epoch - finalizedEpoch;
    if (head !== undefined && fromHead !== undefined) return moved >= 0 && moved <= Math.max(0, head - fromHead);
    if (from) return moved >= 0 && moved <= Math.max(0, Math.ceil((readAt - from.readAt) / MS_PER_EPOCH));
  }
  return head === undefined || epoch <= head - MIN_LAG;
}

/** The epoch on which two reports agree: that of the report closer to the known epoch. Undefined: they do not agree. */
function agreementOf(known: number | undefined, a: FinalityReport, b: FinalityReport): FinalityReport | undefined {
  const [low, high] = a.epoch < b.epoch ? [a, b] : [b, a];
  if (known === undefined || low.epoch > known) return low;
  return high.epoch < known ? high : undefined;
}

function takeOver({ finalizedClaim: unconfirmed, ...state }: Slashings, report: FinalityReport): Slashings {
  const { epoch, head } = report;
  // An epoch that was not plausible when it was reported, and is final by now.
  const first = unconfirmed && unconfirmed.epoch < epoch ? unconfirmed.epoch : epoch;
  const { finalizedReadAtHead: _head, ...known } = state;
  return {
    ...known,
    finalizedEpoch: epoch,
    finalizedFrom: measuredFrom(state, report),
    ...(head === undefined ? {} : { finalizedReadAtHead: head }),
    // The first epoch to count is the one that is finalized now: earlier epochs are not read.
    scannedEpoch: state.scannedEpoch ?? first - 1,
  };
}

/** The service caches its answers: after a report that brings nothing new, the next one may bring two epochs. */
function measuredFrom(
  { finalizedEpoch, finalizedFrom: from }: Slashings,
  report: FinalityReport,
): Slashings['finalizedFrom'] {
  const { epoch, readAt, head } = report;
  const isLate = epoch === finalizedEpoch;
  const earlier = isLate && from && !from.isLate ? from : undefined;
  return {
    readAt: Math.min(readAt, earlier?.readAt ?? readAt),
    ...(head === undefined ? {} : { head: Math.min(head, earlier?.head ?? head) }),
    isLate,
  };
}

/** Whether finality has to be read before epochs are counted, although the head has not moved on. */
export function isFinalityDoubtful(state: Slashings): boolean {
  const { headEpoch, headClaim, finalizedEpoch, finalizedClaim, finalizedFrom } = state;
  if (finalizedClaim !== undefined || finalizedFrom === undefined) return true;
  const isHeadDoubtful = headClaim !== undefined || (finalizedEpoch ?? 0) >= (headEpoch ?? 0);
  return hasBacklog(state) && isHeadDoubtful;
}

export function hasBacklog({ finalizedEpoch, scannedEpoch }: Slashings): boolean {
  return finalizedEpoch !== undefined && scannedEpoch !== undefined && scannedEpoch < finalizedEpoch;
}

/**
 * While the scanned epoch is far in the future, nothing is counted until the chain gets there. So it goes back to the
 * finalized epoch, when that has been behind it for an hour, and by our clock the scanned epoch has not begun. A service
 * that lags cannot move it back, and no epoch is counted twice.
 */
export function withoutFutureScan(state: Slashings, chain: Chain, now: UnixMs): Slashings {
  const { scannedAheadSince: since = now, ...rest } = state;
  const { scannedEpoch, finalizedEpoch } = rest;
  if (scannedEpoch === undefined || finalizedEpoch === undefined) return rest;
  if (scannedEpoch <= finalizedEpoch || scannedEpoch <= epochAt(chain, now)) return rest;
  // A time in the future was noted before the clock was set back.
  if (now - since < GIVE_UP_AFTER_MS) return { ...rest, scannedAheadSince: Math.min(since, now) };
  return { ...rest, scannedEpoch: finalizedEpoch };
}
