import type { Entry } from '../../../src/scheduler/entry.ts';
import { Scheduler, type SchedulerDependencies } from '../../../src/scheduler/scheduler.ts';
import { type SourceView, sourceViews } from '../../../src/scheduler/schedules.ts';
import type { Source } from '../../../src/sources/source.ts';

/** A scheduler that can show the status of each source. */
export class ViewedScheduler extends Scheduler {
  readonly #read: () => SourceView[];

  constructor(sources: readonly Source[], entries: ReadonlyMap<string, Entry>, deps: SchedulerDependencies) {
    super(sources, entries, deps);
    this.#read = () => sourceViews(this.sources(), deps.budgetView(), deps.clock.now());
  }

  views(): SourceView[] {
    return this.#read();
  }
}
