import type { Breakage } from './breakage.ts';
import { BUDGET_BREAKAGES } from './budget.ts';
import { PROCESS_BREAKAGES } from './process.ts';
import { SLASHINGS_BREAKAGES } from './slashings.ts';
import { SOURCES_BREAKAGES } from './sources.ts';

/** Every deliberate fault. */
export const BREAKAGES: readonly Breakage[] = [
  ...BUDGET_BREAKAGES,
  ...SLASHINGS_BREAKAGES,
  ...SOURCES_BREAKAGES,
  ...PROCESS_BREAKAGES,
];
