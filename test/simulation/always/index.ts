import type { NewCheck } from './check.ts';
import { committeesShown, daysShown } from './daily.ts';
import { countersGrow, wellFormed } from './exposition.ts';
import { machinesShown } from './machines.ts';
import { recovers } from './recovery.ts';
import { chainsCounted } from './slashings.ts';

/** All that must always hold. */
export const ALWAYS: readonly NewCheck[] = [
  wellFormed,
  countersGrow,
  recovers,
  chainsCounted,
  machinesShown,
  daysShown,
  committeesShown,
];
