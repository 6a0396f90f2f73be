import type { Played } from './played.ts';

/** The service of a trial with three machines. */
export const TRIAL = { plan: 'free_trial', machines: 3, slotsPerSlashing: Number.POSITIVE_INFINITY } as const;

/** Machines whose values are shown, with their other labels. */
export function shownMachines(story: Played): string[] {
  return [...story.family('machine_cpu_cores').keys()];
}
