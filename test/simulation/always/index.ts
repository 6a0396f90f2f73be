import { chainsCounted } from './chains.ts';
import type { NewCheck } from './check.ts';
import { countersGrow, wellFormed } from './exposition.ts';
import { longWindows, secondWindow } from './limits.ts';
import { machinesShown } from './machines.ts';
import { newsShown } from './periods.ts';
import { bounded, endsForAReason, errorsHaveCauses, failedWritesCounted, healthy } from './process.ts';
import { recovers } from './recovery.ts';
import { fewRetries, noOverlap, reloadsEndNothing, restartsPollWhatIsDue } from './requests.ts';
import { intervalsMet, nothingRefused, quotaSpent, rateUsed, shareOfRate, stretchedByNothing } from './steady.ts';
import { readIsShown } from './swept.ts';
import { forbiddenPauses, refusedKeys, waits } from './waits.ts';

/** All that must always hold. */
export const ALWAYS: readonly NewCheck[] = [
  ...[wellFormed, countersGrow, recovers],
  ...[chainsCounted, machinesShown, readIsShown, newsShown],
  ...[secondWindow, longWindows, waits, refusedKeys, forbiddenPauses],
  ...[noOverlap, fewRetries, reloadsEndNothing, restartsPollWhatIsDue],
  ...[intervalsMet, rateUsed, quotaSpent, nothingRefused, stretchedByNothing, shareOfRate],
  ...[endsForAReason, healthy, errorsHaveCauses, bounded, failedWritesCounted],
];
