import type { Source } from '../sources/source.ts';
import { type Entry, emptyEntry, sourceId } from '../state/entry.ts';
import type { Known } from './views.ts';

/** One source, whatever it is configured to. */
export interface Slot extends Known {
  readonly id: string;
  source: Source;
  shown: Entry;
  known: Entry;
  /** What runs, perhaps still as the source was configured when it began. */
  run: Promise<void> | undefined;
  readonly running: boolean;
  /** Ends the poll in progress. */
  stop: AbortController;
  /** No poll starts until it is known how the source goes on. */
  isHeld: boolean;
  /** Off: it is not configured, so it is neither polled nor shown; what it knows is kept for when it is again. */
  isOn: boolean;
}

/** The sources of the configuration, and those of earlier ones. */
export class Slots {
  /** In the order of the configuration; those that are off last. */
  #slots: readonly Slot[] = [];

  constructor(sources: readonly Source[], entries: ReadonlyMap<string, Entry>) {
    this.adopt(sources, entries);
  }

  get all(): readonly Slot[] {
    return this.#slots;
  }

  get on(): readonly Slot[] {
    return this.#slots.filter(({ isOn }) => isOn);
  }

  /** Ends the polls of these sources, and holds the next ones. Resolves when they have ended. */
  async interrupt(isMeant: (source: Source) => boolean): Promise<void> {
    const meant = this.on.filter(({ source }) => isMeant(source));
    for (const slot of meant) {
      slot.isHeld = true;
      slot.stop.abort(new Error('configured otherwise'));
    }
    await Promise.allSettled(meant.map(({ run }) => run));
  }

  /** Goes on with these sources and no others; what is held, off or not there begins with its entry, if one is given. */
  adopt(sources: readonly Source[], entries: ReadonlyMap<string, Entry>): void {
    const before = new Map(this.#slots.map((slot) => [slot.id, slot]));
    const on = sources.map((source) => {
      const id = sourceId(source);
      const entry = entries.get(id);
      const slot = before.get(id) ?? newSlot(id, source);
      before.delete(id);
      slot.source = source;
      if (slot.isOn && !slot.isHeld) return slot;
      if (entry) Object.assign(slot, { shown: entry, known: entry });
      return Object.assign(slot, { stop: new AbortController(), isHeld: false, isOn: true });
    });
    const off = [...before.values()];
    for (const slot of off) slot.isOn = false;
    this.#slots = [...on, ...off];
  }
}

function newSlot(id: string, source: Source): Slot {
  const entry = emptyEntry(source);
  return {
    id,
    source,
    shown: entry,
    known: entry,
    run: undefined,
    get running() {
      return this.run !== undefined;
    },
    stop: new AbortController(),
    isHeld: false,
    isOn: false,
  };
}
