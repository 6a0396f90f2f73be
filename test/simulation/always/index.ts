import { rareScrapes } from '../rare/scrapes.ts';
import { rareTraffic } from '../rare/traffic.ts';
import type { NewCheck } from './check.ts';
import { committeesShown } from './committees.ts';
import { ownCounts, ownTimes } from './counts.ts';
import { daysShown } from './daily.ts';
import { restartsPollWhatIsDue } from './due.ts';
import { countersGrow, wellFormed } from './exposition.ts';
import { machinesFound } from './found.ts';
import { toldRemaining, usedByOthers } from './ledger.ts';
import { longWindows, secondWindow } from './limits.ts';
import { machinesShown } from './machines.ts';
import { newsShown } from './news.ts';
import { intervalsAsConfigured, shareOfRate, toldIsMet } from './pace.ts';
import { bounded, endsForAReason, errorsHaveCauses, healthy } from './process.ts';
import { plansToldSeldom, pollsSucceed, stretchedByNothing } from './quota.ts';
import { recovers } from './recovery.ts';
import { agree, notTakenEarly, onlyTheLeaderSends, takenOver, writesFenced } from './replicas.ts';
import { fewRetries, noOverlap, reloadsEndNothing } from './requests.ts';
import { chainsCounted } from './slashings.ts';
import { directoryBounded, failuresCounted } from './state.ts';
import { intervalsMet, quotaSpent, rateUsed, sharedQuotaLasts } from './steady.ts';
import { readIsShown } from './swept.ts';
import { forbiddenPauses, refusedKeys, waits } from './waits.ts';

/** All that must always hold. */
export const ALWAYS: readonly NewCheck[] = [
  wellFormed,
  countersGrow,
  recovers,
  chainsCounted,
  machinesShown,
  daysShown,
  committeesShown,
  newsShown,
  secondWindow,
  longWindows,
  waits,
  refusedKeys,
  forbiddenPauses,
  restartsPollWhatIsDue,
  noOverlap,
  fewRetries,
  reloadsEndNothing,
  ownCounts,
  ownTimes,
  toldIsMet,
  shareOfRate,
  intervalsAsConfigured,
  ...[intervalsMet, rateUsed, quotaSpent, sharedQuotaLasts],
  ...[stretchedByNothing, plansToldSeldom, pollsSucceed],
  ...[machinesFound, readIsShown],
  ...[failuresCounted, directoryBounded],
  ...[writesFenced, onlyTheLeaderSends, takenOver, notTakenEarly, agree],
  ...[endsForAReason, healthy, errorsHaveCauses, bounded],
  usedByOthers,
  toldRemaining,
  rareTraffic,
  rareScrapes,
];
