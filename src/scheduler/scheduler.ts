import type { Api } from '../api/client.ts';
import type { Pace, Poll, Source, SourceEvent } from '../sources/source.ts';
import { type Clock, Nap } from '../toolkit/lib/clock.ts';
import { MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { Logger } from '../toolkit/lib/log.ts';
import type { MonotonicMs, UnixMs } from '../toolkit/lib/time.ts';
import { anew, type Entry, emptyEntry, sourceId } from './entry.ts';
import { afterPoll } from './polls.ts';
import { type BudgetView, type KnownSource, type Schedule, schedulesOf, valueFor } from './schedules.ts';

export interface SchedulerDependencies {
  readonly api: Api;
  readonly clock: Clock;
  readonly store: { save(id: string, entry: Entry): Promise<void> };
  readonly log: Logger;
  /** The current budget. */
  readonly budgetView: () => BudgetView;
  /**
   * Whether any limit is known and the key is accepted. Until then one poll runs at a time, so that a nearly used up quota
   * is not spent.
   */
  readonly limitsKnown: () => boolean;
  /** Called often with how each source runs, once the limits and the cost of each source are known. */
  readonly onSchedules: (schedules: ReadonlyMap<Source, Schedule>) => void;
  /** Called once with each event of the polls, after the value that contains it was saved. */
  readonly onEvent: (source: Source, event: SourceEvent) => void;
  /** Called when a poll has ended and what it found is shown, or could not be written. */
  readonly onPoll: (source: Source, failure: Error | undefined) => void;
  /** Called when what is shown of a source changes. */
  readonly onChange: (source: Source) => void;
}

/** One source, across changes of its configuration. */
interface Task extends KnownSource {
  readonly id: string;
  source: Source;
  saved: Entry;
  current: Entry;
  /** What `current` contains and `saved` does not, in the order in which it was found. */
  unsaved: readonly SourceEvent[];
  /** The work in progress, possibly with the settings from before a reload. */
  work: Promise<void> | undefined;
  readonly running: boolean;
  /** Ends the poll in progress. Once it is aborted, no poll starts before `adopt`. */
  readonly stop: AbortController;
}

/** The loop runs at least this often, so that a step of the clock is noticed. */
const MAX_NAP_MS = 15_000;
/** After a minute without the loop, nothing will be polled again. */
export const DEAD_AFTER_MS = MS_PER_MINUTE;
/** The longest time that a poll which is due and permitted may wait for others. */
const OVERDUE_MS = 5 * MS_PER_MINUTE;
const SAVE_RETRY_MS = 15_000;

/** Polls each source when it is due, one poll per source at a time, and measures every poll. */
export class Scheduler {
  /** The configured sources, in their order. */
  #tasks: readonly Task[] = [];
  readonly #deps: SchedulerDependencies;
  readonly #running = new Set<Promise<void>>();
  /** When the loop first found a source due that it could not start, the earliest first. */
  readonly #lateSince = new Map<Task, MonotonicMs>();
  #heartbeatAt: MonotonicMs;
  /** Whether a poll has ended since the start or the last reload. */
  #hasPolled = false;
  /** The sources that wait for the quota. */
  #waiting: ReadonlySet<Source> = new Set();
  readonly #nap = new Nap();

  constructor(sources: readonly Source[], entries: ReadonlyMap<string, Entry>, deps: SchedulerDependencies) {
    this.#deps = deps;
    this.#heartbeatAt = deps.clock.monotonic();
    this.adopt(sources, entries);
  }

  /** Why a restart would help; undefined: it would not. A step of the clock makes nothing overdue. */
  unhealthy(): string | undefined {
    const now = this.#deps.clock.monotonic();
    if (now - this.#heartbeatAt > DEAD_AFTER_MS) return 'the scheduler has stopped';
    const [late] = this.#lateSince;
    return late && now - late[1] > OVERDUE_MS ? `${late[0].source.name} is overdue` : undefined;
  }

  /** What is shown of the configured sources, by source id. */
  entries(): ReadonlyMap<string, Entry> {
    return new Map(this.#tasks.map(({ id, saved }) => [id, saved]));
  }

  /** The configured sources, in configured order. */
  sources(): readonly KnownSource[] {
    return this.#tasks;
  }

  /** Continues with an entry that another process has written. What a poll that still ends here finds is not written. */
  show(source: Source, entry: Entry = emptyEntry(source)): void {
    const task = this.#tasks.find((one) => one.source === source);
    if (!task) return;
    Object.assign(task, { saved: entry, current: entry, unsaved: [] } satisfies Partial<Task>);
    this.#deps.onChange(source);
  }

  /** Stops the polls of some sources and starts none of them before `adopt`. Resolves when they have ended. */
  async interrupt(isMeant: (source: Source) => boolean): Promise<void> {
    const meant = this.#tasks.filter(({ source }) => isMeant(source));
    for (const { stop } of meant) stop.abort(new Error('the configuration has changed'));
    await Promise.allSettled(meant.map(({ work }) => work));
  }

  /**
   * Continues with exactly these sources, all of them anew. One that was not interrupted keeps its entry; its poll in
   * progress ends with the old settings. The others start with the given entry.
   */
  adopt(sources: readonly Source[], entries: ReadonlyMap<string, Entry>): void {
    const now = this.#deps.clock.now();
    const before = new Map(this.#tasks.map((task) => [task.id, task]));
    this.#tasks = sources.map((source) => {
      const id = sourceId(source);
      const known = before.get(id);
      const task = known && !known.stop.signal.aborted ? known : newTask(id, source, entries.get(id));
      task.source = source;
      task.saved = anew(source, task.saved, now);
      task.current = anew(source, task.current, now);
      return task;
    });
    this.#lateSince.clear();
    this.#hasPolled = false;
    this.#nap.wake();
  }

  /** Resolves when the signal has aborted and every poll in progress has ended. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#nap.wake(), { once: true });
    while (!signal.aborted) {
      this.#heartbeatAt = this.#deps.clock.monotonic();
      const next = this.#startDue(signal);
      await this.#nap.sleep(this.#deps.clock, Math.min(MAX_NAP_MS, next - this.#deps.clock.now()));
    }
    await Promise.all(this.#running);
  }

  /** Starts the polls that are due and returns when the next one will be. */
  #startDue(signal: AbortSignal): UnixMs {
    const now = this.#deps.clock.now();
    let schedules = schedulesOf(this.#tasks, this.#deps.budgetView(), now);
    let next = Number.POSITIVE_INFINITY;
    for (const task of this.#tasks) {
      if (task.running || task.stop.signal.aborted) continue;
      const { pace, nextAttemptAt } = valueFor(schedules, task.source);
      // Concurrently once the limits are known, or if the first poll has not found them.
      const mayStart = this.#running.size === 0 || this.#hasPolled || this.#deps.limitsKnown();
      if (nextAttemptAt > now) next = Math.min(next, nextAttemptAt);
      else if (mayStart) {
        this.#startWork(task, () => this.#poll(task, pace, signal));
        // The poll may have used the only request that was allowed.
        schedules = schedulesOf(this.#tasks, this.#deps.budgetView(), now);
      }
      if (nextAttemptAt > now || mayStart) this.#lateSince.delete(task);
      else if (!this.#lateSince.has(task)) this.#lateSince.set(task, this.#heartbeatAt);
    }
    this.#tell(schedules);
    return next;
  }

  #tell(schedules: ReadonlyMap<Source, Schedule>): void {
    const waiting = new Set([...schedules].filter(([, { wait }]) => wait).map(([source]) => source));
    // A wait changes the pace, and with it the staleness.
    for (const source of schedules.keys()) {
      if (waiting.has(source) !== this.#waiting.has(source)) this.#deps.onChange(source);
    }
    this.#waiting = waiting;
    // The second sweep of a large fleet starts at once, and shows how long the next ones take.
    const isMeasuring = this.#tasks.some(({ current, running }) => running && (current.costs ?? []).length < 2);
    if (this.#deps.limitsKnown() && !isMeasuring) this.#deps.onSchedules(schedules);
  }

  /** Starts work during which no poll of the source starts. */
  #startWork(task: Task, start: () => Promise<void>): void {
    const work = start().finally(() => {
      if (task.work === work) task.work = undefined;
      this.#running.delete(work);
      this.#nap.wake();
    });
    task.work = work;
    this.#running.add(work);
  }

  async #poll(task: Task, pace: Pace, signal: AbortSignal): Promise<void> {
    const { clock, api } = this.#deps;
    const { source } = task;
    const stop = AbortSignal.any([signal, task.stop.signal]);
    const now = clock.now();
    const start = clock.monotonic();
    let requests = 0;
    const counting: Api = {
      ...api,
      request(...request) {
        requests += 1;
        return api.request(...request);
      },
    };
    const { intervalMs, coverage } = pace;
    const timing = { now, intervalMs, coverage };
    const known = this.#deps.limitsKnown() ? { intervalMs, coverage } : undefined;
    let poll: Poll<unknown>;
    try {
      poll = await source.poll(counting, task.current.value, timing, stop);
    } catch (error) {
      if (stop.aborted) return;
      poll = { value: task.current.value, failure: error instanceof Error ? error : new Error(String(error)) };
    }
    const durationMs = clock.monotonic() - start;
    const stepMs = clock.now() - now - durationMs;
    const measured = { start: now, durationMs, stepMs, requests, pace: known };
    this.#hasPolled = true;
    const entry = afterPoll(task.current, poll, measured);
    // The poll began before a reload, with what was refused before it.
    task.current = task.source === source ? entry : anew(task.source, entry, clock.now());
    task.unsaved = [...task.unsaved, ...(poll.events ?? [])];
    await this.#persist(task, signal);
    this.#deps.onPoll(source, poll.failure);
  }

  /**
   * Nothing is shown before it is persisted. Otherwise a counter could step back after a restart. Events are passed on
   * after it: if a kill comes before the save, the next polls find them again. One between the two loses their lines.
   */
  async #persist(task: Task, signal: AbortSignal): Promise<void> {
    const { store, log, onChange, onEvent, clock } = this.#deps;
    const entry = task.current;
    try {
      await store.save(task.id, entry);
    } catch (error) {
      log.error({ source: task.source.name, chain: task.source.chain, err: String(error) }, 'state not written');
      // The next poll also saves, but for a daily source that is too late.
      clock.sleep(SAVE_RETRY_MS, signal).then(
        () => {
          // A reload has replaced neither the poll nor the source.
          const isNewest = this.#tasks.includes(task) && task.current.lastAttemptAt === entry.lastAttemptAt;
          if (isNewest && !task.running) this.#startWork(task, () => this.#persist(task, signal));
        },
        () => undefined,
      );
      return;
    }
    // A reload may have made it anew.
    task.saved = task.current;
    onChange(task.source);
    const { unsaved } = task;
    task.unsaved = [];
    for (const event of unsaved) onEvent(task.source, event);
  }
}

function newTask(id: string, source: Source, entry: Entry = emptyEntry(source)): Task {
  return {
    id,
    source,
    saved: entry,
    current: entry,
    unsaved: [],
    work: undefined,
    get running() {
      return this.work !== undefined;
    },
    stop: new AbortController(),
  };
}
