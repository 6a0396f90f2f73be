import type { Source, SourceEvent } from '../sources/source.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { anew, type Entry, emptyEntry, sourceId } from './entry.ts';
import type { KnownSource } from './schedules.ts';

/** One source, across changes of its configuration. */
export interface Task extends KnownSource {
  readonly id: string;
  source: Source;
  saved: Entry;
  current: Entry;
  /** What `current` contains and `saved` does not, in the order in which it was found. */
  unsaved: readonly SourceEvent[];
  /** The work in progress, possibly with the settings from before a reload. */
  work: Promise<void> | undefined;
  readonly running: boolean;
  /** Ends the poll in progress. */
  stop: AbortController;
  /** No poll starts before `adopt`. */
  isHeld: boolean;
  /** Whether it is configured. Otherwise it is neither polled nor shown, but its entry is kept. */
  isOn: boolean;
}

/** The configured sources, and those of earlier configurations. */
export class Tasks {
  /** In the order of the configuration; those that are off last. */
  #tasks: readonly Task[] = [];

  of(source: Source): Task | undefined {
    return this.on.find((task) => task.source === source);
  }

  get on(): readonly Task[] {
    return this.#tasks.filter(({ isOn }) => isOn);
  }

  /** Stops the polls of these sources and holds the next ones. Resolves when they have ended. */
  async interrupt(isMeant: (source: Source) => boolean): Promise<void> {
    const meant = this.on.filter(({ source }) => isMeant(source));
    for (const task of meant) {
      task.isHeld = true;
      task.stop.abort(new Error('the configuration has changed'));
    }
    await Promise.allSettled(meant.map(({ work }) => work));
  }

  /**
   * Continues with exactly these sources, all of them anew. One that is held, off or new starts with its entry, if one is
   * given.
   */
  adopt(sources: readonly Source[], entries: ReadonlyMap<string, Entry>, now: UnixMs): void {
    const before = new Map(this.#tasks.map((task) => [task.id, task]));
    const on = sources.map((source) => {
      const id = sourceId(source);
      const entry = entries.get(id);
      const task = before.get(id) ?? newTask(id, source);
      before.delete(id);
      task.source = source;
      const isKept = task.isOn && !task.isHeld;
      if (entry && !isKept) continueWith(task, entry);
      task.saved = anew(source, task.saved, now);
      task.current = anew(source, task.current, now);
      if (isKept) return task;
      return Object.assign(task, { stop: new AbortController(), isHeld: false, isOn: true });
    });
    const off = [...before.values()];
    for (const task of off) task.isOn = false;
    this.#tasks = [...on, ...off];
  }
}

/** Continues with a saved entry. The polls after it are made again, and find their events again. */
export function continueWith(task: Task, entry: Entry): void {
  Object.assign(task, { saved: entry, current: entry, unsaved: [] } satisfies Partial<Task>);
}

function newTask(id: string, source: Source): Task {
  const entry = emptyEntry(source);
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
    isHeld: false,
    isOn: false,
  };
}
