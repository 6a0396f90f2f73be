import type { Quota } from '../../../src/budget/bucket.ts';
import { type Entry, sourceId } from '../../../src/scheduler/entry.ts';
import type { BudgetView } from '../../../src/scheduler/paces.ts';
import type { SchedulerDependencies } from '../../../src/scheduler/scheduler.ts';
import type { SourceView } from '../../../src/scheduler/schedules.ts';
import type { Source } from '../../../src/sources/source.ts';
import { fakeApi } from '../answers/fake-api.ts';
import { logLines } from '../log/log-lines.ts';
import { NOW } from '../time/timing.ts';
import { VirtualClock } from '../time/virtual-clock.ts';
import { ViewedScheduler } from './viewed-scheduler.ts';

/** A scheduler on a virtual clock, and a record of what it did. */
export interface Harness {
  readonly clock: VirtualClock;
  readonly scheduler: ViewedScheduler;
  /** All saved entries, in order. */
  readonly saved: (readonly [id: string, entry: Entry])[];
  /** Log lines, parsed. */
  readonly lines: Record<string, unknown>[];
  /** The sources whose shown entry changed, in order. */
  readonly changes: string[];
  /** Resolves when the scheduler has stopped. */
  readonly stopped: Promise<void>;
  view(source: Source): SourceView;
  stop(): void;
}

interface HarnessOptions
  extends Partial<Omit<SchedulerDependencies, 'clock' | 'log'>>,
    Partial<Omit<BudgetView, 'bucketOf'>> {
  readonly entries?: ReadonlyMap<string, Entry>;
  readonly clock?: VirtualClock;
}

/** The quota of a plan that limits only requests per second. */
export const NO_QUOTA: Quota = {
  closedUntil: 0,
  limit: 'month',
  left: Number.POSITIVE_INFINITY,
  resetsAt: Number.POSITIVE_INFINITY,
  end: Number.POSITIVE_INFINITY,
};

/** Starts a scheduler for these sources. */
export function schedule(sources: readonly Source[], options: HarnessOptions = {}): Harness {
  const { clock = new VirtualClock(NOW), entries = new Map(), ...others } = options;
  const { allowedPerDay = () => Infinity, quotaOf = () => NO_QUOTA, keyAt = () => 0, ...overrides } = others;
  const saved: [string, Entry][] = [];
  const { log, lines } = logLines();
  const changes: string[] = [];
  const store: SchedulerDependencies['store'] = { save: async (id, entry) => void saved.push([id, entry]) };
  const scheduler = new ViewedScheduler(sources, entries, {
    api: fakeApi(() => ({})),
    clock,
    log,
    store,
    budgetView: () => ({ bucketOf: () => 'default', allowedPerDay, quotaOf, keyAt }),
    limitsKnown: () => true,
    onSchedules: () => undefined,
    onEvent: () => undefined,
    onRun: () => undefined,
    onChange: (source) => void changes.push(sourceId(source)),
    ...overrides,
  });
  const abort = new AbortController();
  const stopped = scheduler.run(abort.signal);
  return {
    clock,
    scheduler,
    saved,
    lines,
    changes,
    stopped,
    stop: () => abort.abort(new Error('stopping')),
    view(source) {
      const view = scheduler.views().find((one) => one.source === source);
      if (!view) throw new Error(`no view of ${source.name}`);
      return view;
    },
  };
}
