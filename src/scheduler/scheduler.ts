import type { Api } from '../api/client.ts';
import type { Read, SourceEvent } from '../sources/read.ts';
import type { Source } from '../sources/source.ts';
import { type Clock, Nap } from '../toolkit/lib/clock.ts';
import { MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { HeldTime } from '../toolkit/lib/held-time.ts';
import type { Logger } from '../toolkit/lib/log.ts';
import type { MonotonicMs, UnixMs } from '../toolkit/lib/time.ts';
import { attemptOf, doubtingRefusals, type Entry, emptyEntry, sourceId, withLeftOut } from './entry.ts';
import { type BudgetView, pacesOf } from './paces.ts';
import { type Ended, runRound } from './round.ts';
import { inputsFor, type KnownSource, type Schedule, schedulesOf, valueFor } from './schedules.ts';

export interface SchedulerDependencies {
  readonly api: Api;
  readonly clock: Clock;
  readonly heldTime: HeldTime;
  readonly store: { save(id: string, entry: Entry): Promise<void> };
  readonly log: Logger;
  readonly budgetView: () => BudgetView;
  /**
   * Whether any limit is known and the key works. Until then one round runs at a time, to save a quota that is nearly used up.
   */
  readonly limitsKnown: () => boolean;
  /** When the process before this one last ran. Undefined if unknown. */
  readonly aliveAt?: () => UnixMs | undefined;
  /** Called often, once the limits and the cost of each source are known. */
  readonly onSchedules: (schedules: ReadonlyMap<Source, Schedule>) => void;
  /** Called once per event, after its value was saved. */
  readonly onEvent: (source: Source, event: SourceEvent) => void;
  /** Called for each read of a round, once its result is saved and shown, or saving has failed. */
  readonly onRun: (source: Source, read: Read<unknown>, ended: Ended) => void;
  /** Called when the shown value of a source changes. */
  readonly onChange: (source: Source) => void;
}

/** One source, across changes of its configuration. */
interface Task extends KnownSource {
  source: Source;
  saved: Entry;
  current: Entry;
  /** The events in `current` that are not in `saved`, in order. */
  unsaved: readonly SourceEvent[];
  /** The work in progress, possibly with the settings from before a reload. */
  work: Promise<void> | undefined;
  /** Ends the round in progress. Once aborted, no round of this source starts before `adopt`. */
  readonly stop: AbortController;
  /** When each read last began since the start, the last reload or a takeover. */
  tried: Map<string, MonotonicMs>;
  /** When the process started, or a reload added the source. */
  readonly startedAt: UnixMs;
  /** Counts the rounds, so that a save is repeated only if no later round saves more. */
  rounds: number;
}

/** The loop runs at least this often, to notice a step of the clock. */
const MAX_NAP_MS = 15_000;
/** After so long without a run, the loop has stopped. */
export const DEAD_AFTER_MS = MS_PER_MINUTE;
/** How long a due and permitted read may wait for others. */
const OVERDUE_MS = 5 * MS_PER_MINUTE;
const SAVE_RETRY_MS = 15_000;
const EMPTY_ROUND_MS = 1_000;

/** Runs each read when it is due, one round of a source at a time. */
export class Scheduler {
  /** The configured sources, in their order. */
  #tasks: readonly Task[] = [];
  readonly #deps: SchedulerDependencies;
  readonly #running = new Set<Promise<void>>();
  /** When the loop first found a source due and could not start its round. The earliest comes first. */
  readonly #lateSince = new Map<Task, MonotonicMs>();
  #heartbeatAt: MonotonicMs = Number.NEGATIVE_INFINITY;
  /** Whether a read has ended since the start or the last reload. */
  #hasRun = false;
  /** Sources paused for the quota. */
  #waiting: ReadonlySet<Source> = new Set();
  readonly #nap = new Nap();

  constructor(sources: readonly Source[], entries: ReadonlyMap<string, Entry>, deps: SchedulerDependencies) {
    this.#deps = deps;
    this.adopt(sources, entries);
  }

  /** Why a restart would help. Undefined if it would not. A step of the clock makes nothing overdue. */
  unhealthy(): string | undefined {
    const now = this.#deps.clock.monotonic();
    if (now - this.#heartbeatAt > DEAD_AFTER_MS) return 'the scheduler has stopped';
    const [late] = this.#lateSince;
    return late && now - late[1] > OVERDUE_MS ? `${late[0].source.name} is overdue` : undefined;
  }

  /** The shown entries of the configured sources, by source id. */
  entries(): ReadonlyMap<string, Entry> {
    return new Map(this.#tasks.map(({ source, saved }) => [sourceId(source), saved]));
  }

  sources(): readonly KnownSource[] {
    return this.#tasks;
  }

  /** Continues with the entry of another process. Does not save the result of a round that still ends here. */
  show(source: Source, entry: Entry = emptyEntry(source)): void {
    const task = this.#tasks.find((one) => one.source === source);
    if (!task) return;
    Object.assign(task, { saved: entry, current: entry, unsaved: [] } satisfies Partial<Task>);
    this.#deps.onChange(source);
  }

  /** Stops the rounds of some sources and starts none of them before `adopt`. Resolves when they have ended. */
  async interrupt(isMeant: (source: Source) => boolean): Promise<void> {
    const meant = this.#tasks.filter(({ source }) => isMeant(source));
    for (const { stop } of meant) stop.abort(new Error('the configuration has changed'));
    await Promise.allSettled(meant.map(({ work }) => work));
  }

  /**
   * Continues with exactly these sources, and requests refused parts again. A source that was not interrupted keeps its entry, and its
   * round in progress ends with the old settings. Other sources start with the given entry.
   */
  adopt(sources: readonly Source[], entries: ReadonlyMap<string, Entry>): void {
    const before = new Map(this.#tasks.map((task) => [sourceId(task.source), task]));
    this.#tasks = sources.map((source) => {
      const id = sourceId(source);
      const known = before.get(id);
      const task =
        known && !known.stop.signal.aborted
          ? known
          : newTask(source, known?.startedAt ?? this.#deps.clock.now(), entries.get(id));
      task.source = source;
      task.saved = doubtingRefusals(source, task.saved);
      task.current = doubtingRefusals(source, task.current);
      task.tried = new Map();
      return task;
    });
    this.#heartbeatAt = this.#deps.clock.monotonic();
    this.#lateSince.clear();
    this.#hasRun = false;
    this.#nap.wake();
  }

  /** Resolves when the signal has aborted and every round in progress has ended. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#nap.wake(), { once: true });
    while (!signal.aborted) {
      this.#heartbeatAt = this.#deps.clock.monotonic();
      const next = this.#startDue(signal);
      await this.#nap.sleep(this.#deps.clock, Math.min(MAX_NAP_MS, next - this.#deps.clock.now()));
    }
    await Promise.all(this.#running);
  }

  /** Starts the due rounds and returns when the next one is due. */
  #startDue(signal: AbortSignal): UnixMs {
    const time = this.#deps.heldTime.time();
    const { now } = time;
    let schedules = schedulesOf(this.#tasks, this.#deps.budgetView(), time);
    let next = Number.POSITIVE_INFINITY;
    for (const task of this.#tasks) {
      if (task.running || task.stop.signal.aborted) continue;
      const { reads, leftOut } = valueFor(schedules, task.source);
      // A source whose reads are all left out has no round that saves this.
      if (this.#deps.limitsKnown()) task.current = withLeftOut(task.current, leftOut);
      const nextRoundAt = Math.min(...reads.map((read) => read.nextAttemptAt));
      // Rounds run in parallel once the limits are known, or if the first round did not find them.
      const mayStart = this.#running.size === 0 || this.#hasRun || this.#deps.limitsKnown();
      if (nextRoundAt > now) next = Math.min(next, nextRoundAt);
      else if (mayStart) {
        this.#startWork(task, () => this.#round(task, signal));
        // The round may have used the only request that was allowed.
        schedules = schedulesOf(this.#tasks, this.#deps.budgetView(), time);
      }
      if (nextRoundAt > now || mayStart) this.#lateSince.delete(task);
      else if (!this.#lateSince.has(task)) this.#lateSince.set(task, this.#heartbeatAt);
    }
    this.#report(schedules);
    return next;
  }

  #report(schedules: ReadonlyMap<Source, Schedule>): void {
    const waiting = new Set([...schedules].filter(([, { first }]) => first.wait).map(([source]) => source));
    // A wait changes the pace, and so the time at which values become stale.
    for (const source of schedules.keys()) {
      if (waiting.has(source) !== this.#waiting.has(source)) this.#deps.onChange(source);
    }
    this.#waiting = waiting;
    // The second sweep of a large fleet starts at once, and shows how long the next ones take.
    const isMeasuring = this.#tasks.some(({ source, current, running }) => {
      const { costs = [] } = attemptOf(current, valueFor(schedules, source).first.read);
      return running && costs.length < 2;
    });
    if (this.#deps.limitsKnown() && !isMeasuring) this.#deps.onSchedules(schedules);
  }

  /** Starts work. No round of the source starts meanwhile. */
  #startWork(task: Task, start: () => Promise<void>): void {
    const work = start().finally(() => {
      if (task.work === work) task.work = undefined;
      this.#running.delete(work);
      this.#nap.wake();
    });
    task.work = work;
    this.#running.add(work);
  }

  /** Runs the due reads, and saves their results once. */
  async #round(task: Task, signal: AbortSignal): Promise<void> {
    const { clock, api, limitsKnown, aliveAt, onRun } = this.#deps;
    const { source, tried, startedAt } = task;
    // A reload during the round changes neither its reads nor their paces.
    const known = this.#tasks.map(({ source, current }) => ({ source, current }));
    const paces = pacesOf(known, this.#deps.budgetView(), clock.now());
    const scheduleOf = (current: Entry, now: UnixMs): Schedule => {
      // The reload may have removed another chain, whose sources then have no bucket.
      const ids = this.entries();
      const left = known.filter((one) => ids.has(sourceId(one.source)));
      const all = left.map((one) => (one.source === source ? { source, current } : one));
      return valueFor(schedulesOf(all, this.#deps.budgetView(), { ...this.#deps.heldTime.time(), now }, paces), source);
    };
    const stop = AbortSignal.any([signal, task.stop.signal]);
    const beganAt = clock.monotonic();
    const round = await runRound(source, task.current, {
      api,
      clock,
      inputs: inputsFor(source, this.#tasks),
      signal: stop,
      scheduleOf,
      isPaceKnown: limitsKnown(),
      tried,
      startedAt,
      aliveAt: aliveAt?.(),
    });
    // Nothing was due, because the clock was set back meanwhile. The loop must not spin.
    if (round.runs.length === 0) return clock.sleep(EMPTY_ROUND_MS, stop).catch(() => undefined);
    this.#hasRun = true;
    for (const { read } of round.runs) tried.set(read.name, beganAt);
    // If the round began before a reload, its entry has the refusals from before.
    task.current = task.source === source ? round.entry : doubtingRefusals(task.source, round.entry);
    task.unsaved = [...task.unsaved, ...round.events];
    task.rounds += 1;
    await this.#persist(task, signal);
    for (const { read, ...ended } of round.runs) onRun(source, read, ended);
  }

  /**
   * Shows nothing before the save, because a counter could step back after a restart. Passes events on after the save: after a kill
   * before the save, the next runs find them again. A kill after the save and before the log lines loses these lines, never the counts.
   */
  async #persist(task: Task, signal: AbortSignal): Promise<void> {
    const { store, log, onChange, onEvent, clock } = this.#deps;
    const { rounds } = task;
    try {
      await store.save(sourceId(task.source), task.current);
    } catch (error) {
      log.error({ source: task.source.name, chain: task.source.chain, err: String(error) }, 'state not written');
      // The next round also saves, but that of a daily source comes too late.
      clock.sleep(SAVE_RETRY_MS, signal).then(
        () => {
          const isNewest = this.#tasks.includes(task) && task.rounds === rounds;
          if (isNewest && !task.running) this.#startWork(task, () => this.#persist(task, signal));
        },
        () => undefined,
      );
      return;
    }
    // Not the entry that was saved: a reload may have forgotten its refusals.
    task.saved = task.current;
    onChange(task.source);
    const { unsaved } = task;
    task.unsaved = [];
    for (const event of unsaved) onEvent(task.source, event);
  }
}

function newTask(source: Source, startedAt: UnixMs, entry: Entry = emptyEntry(source)): Task {
  return {
    source,
    saved: entry,
    current: entry,
    unsaved: [],
    work: undefined,
    get running() {
      return this.work !== undefined;
    },
    stop: new AbortController(),
    tried: new Map(),
    startedAt,
    rounds: 0,
  };
}
