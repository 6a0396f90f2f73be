import type { NewCheck } from './check.ts';
import { countersGrow, wellFormed } from './exposition.ts';
import { bounded, endsForAReason, errorsHaveCauses, healthy } from './process.ts';
import { recovers } from './recovery.ts';
import { agree, onlyTheLeaderSends, takenOver, writesFenced } from './replicas.ts';
import { chainsCounted } from './slashings.ts';
import { directoryBounded, failuresCounted } from './state.ts';

/** All that must always hold. */
export const ALWAYS: readonly NewCheck[] = [
  wellFormed,
  countersGrow,
  recovers,
  chainsCounted,
  ...[failuresCounted, directoryBounded],
  ...[writesFenced, onlyTheLeaderSends, takenOver, agree],
  ...[endsForAReason, healthy, errorsHaveCauses, bounded],
];
