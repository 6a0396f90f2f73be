import type { Showing, Timing } from '../source.ts';
import type { MachinesOptions } from './options.ts';
import type { Machines } from './schema.ts';
import { freshOf, isShown, lastSeen, shownFor, timesOf } from './shown.ts';

/** What scrapes record with their own timestamp: the fresh records of every machine. */
export function showingOf(options: MachinesOptions, { machines }: Machines, timing: Timing): Showing | undefined {
  // With machines.timestamps the samples carry the time of their record, as those of a backfill do.
  if (options.timestamps || machines.length === 0) return undefined;
  const newest = Math.max(...machines.map(lastSeen));
  return {
    until: newest * 1000 + shownFor(options, timing),
    newest,
    oldest: () =>
      machines.flatMap((machine) => {
        const times = isShown(options, machine, timing) ? timesOf(freshOf(options, machine, timing)) : [];
        return times.length === 0 ? [] : [[machine.name, Math.min(...times)] as const];
      }),
  };
}
