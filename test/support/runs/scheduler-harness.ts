import type { Quota } from '../../../src/budget/bucket.ts';
import { type Entry, sourceId } from '../../../src/scheduler/entry.ts';
import type { BudgetView } from '../../../src/scheduler/paces.ts';
import { Scheduler, type SchedulerDependencies } from '../../../src/scheduler/scheduler.ts';
import { type SourceView, sourceViews } from '../../../src/scheduler/schedules.ts';
import type { Source } from '../../../src/sources/source.ts';
import { HeldTime } from '../../../src/toolkit/lib/held-time.ts';
import { fakeApi } from '../answers/fake-api.ts';
import { logLines } from '../log/log-lines.ts';
import { NOW } from '../time/timing.ts';
import { VirtualClock } from '../time/virtual-clock.ts';

/** A scheduler on a virtual clock, and a record of what it did. */
export type Harness = ReturnType<typeof schedule>;

interface HarnessOptions
  extends Partial<Omit<SchedulerDependencies, 'clock' | 'log'>>,
    Partial<Omit<BudgetView, 'bucketOf'>> {
  readonly entries?: ReadonlyMap<string, Entry>;
  readonly clock?: VirtualClock;
}

/** A run that adds so much after it took so long; it ends early with this signal. */
export function sleeping(clock: VirtualClock, ms: number, adds = 1) {
  return async (value: number, { signal }: { signal: AbortSignal }): Promise<{ value: number }> => {
    await clock.sleep(ms, signal);
    return { value: value + adds };
  };
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
export function schedule(sources: readonly Source[], options: HarnessOptions = {}) {
  const { clock = new VirtualClock(NOW), entries = new Map(), ...others } = options;
  const { allowedPerDay = () => Infinity, quotaOf = () => NO_QUOTA, keyAt = () => 0, ...rest } = others;
  const saved: (readonly [id: string, entry: Entry])[] = [];
  const { log, lines } = logLines();
  /** The sources whose shown entry changed, in order. */
  const changes: string[] = [];
  const store: SchedulerDependencies['store'] = { save: async (id, entry) => void saved.push([id, entry]) };
  const heldTime = new HeldTime(clock);
  const planned = () => ({ bucketOf: () => 'default', allowedPerDay, quotaOf, keyAt });
  const { budgetView = planned, ...overrides } = rest;
  const scheduler = new Scheduler(sources, entries, {
    api: fakeApi(() => ({})),
    clock,
    heldTime,
    log,
    store,
    budgetView,
    limitsKnown: () => true,
    onSchedules: () => undefined,
    onEvent: () => undefined,
    onRun: () => undefined,
    onChange: (source) => void changes.push(sourceId(source)),
    ...overrides,
  });
  const abort = new AbortController();
  const stopped = scheduler.run(abort.signal);
  const views = (): SourceView[] => sourceViews(scheduler.sources(), budgetView(), heldTime.time());
  return {
    clock,
    scheduler,
    views,
    saved,
    lines,
    changes,
    stop() {
      abort.abort(new Error('stopping'));
      return stopped;
    },
    view(source: Source): SourceView {
      const view = views().find((one) => one.source === source);
      if (!view) throw new Error(`no view of ${source.name}`);
      return view;
    },
  };
}
