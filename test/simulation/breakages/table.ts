import type { Breakage } from './breakage.ts';
import { BUDGET_BREAKAGES } from './budget.ts';
import { DISK_BREAKAGES } from './disk.ts';
import { PACE_BREAKAGES } from './pace.ts';
import { PROCESS_BREAKAGES } from './process.ts';
import { REPLICA_BREAKAGES } from './replicas.ts';
import { SLASHINGS_BREAKAGES } from './slashings.ts';
import { SOURCES_BREAKAGES } from './sources.ts';

/** Every deliberate fault. */
export const BREAKAGES: readonly Breakage[] = [
  ...DISK_BREAKAGES,
  ...REPLICA_BREAKAGES,
  ...BUDGET_BREAKAGES,
  ...PACE_BREAKAGES,
  ...SLASHINGS_BREAKAGES,
  ...SOURCES_BREAKAGES,
  ...PROCESS_BREAKAGES,
];
