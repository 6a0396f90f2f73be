import { chainsCounted } from './chains.ts';
import type { NewCheck } from './check.ts';
import { countersGrow, wellFormed } from './exposition.ts';
import { longWindows, secondWindow } from './limits.ts';
import { machinesShown, readIsShown } from './machines.ts';
import { ownEpochsCounted } from './own-epochs.ts';
import { newsShown } from './periods.ts';
import { bounded, endsForAReason, errorsHaveCauses, healthy } from './process.ts';
import { recovers } from './recovery.ts';
import { fewRetries, noOverlap, reloadsEndNothing } from './requests.ts';
import { refusedKeys, waits } from './waits.ts';

/** All that must always hold. */
export const ALWAYS: readonly NewCheck[] = [
  ...[wellFormed, countersGrow, recovers],
  ...[chainsCounted, ownEpochsCounted, machinesShown, readIsShown, newsShown],
  ...[secondWindow, longWindows, waits, refusedKeys],
  ...[noOverlap, fewRetries, reloadsEndNothing],
  ...[endsForAReason, healthy, errorsHaveCauses, bounded],
];
