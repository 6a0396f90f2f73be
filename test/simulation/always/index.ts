import type { NewCheck } from './check.ts';
import { countersGrow, wellFormed } from './exposition.ts';
import { longWindows, secondWindow } from './limits.ts';
import { recovers } from './recovery.ts';
import { forbiddenPauses, refusedKeys, waits } from './waits.ts';

/** All that must always hold. */
export const ALWAYS: readonly NewCheck[] = [
  wellFormed,
  countersGrow,
  recovers,
  secondWindow,
  longWindows,
  waits,
  refusedKeys,
  forbiddenPauses,
];
