import { MS_PER_DAY } from '../lib/duration.ts';
import type { MonotonicMs } from '../lib/time.ts';
import type { Source } from '../sources/source.ts';
import { sourceId } from '../state/entry.ts';
import type { Schedule, Wait } from './schedule.ts';

type Waits = ReadonlyMap<Source, Wait>;

/** Decides which waits for the quota are worth logging. */
export class WaitNews {
  /** By source id, because a reload creates new source objects. */
  #waiting: ReadonlySet<string> = new Set();
  /** When each source last waited: a wait that comes and goes within a day is logged once. */
  readonly #seenAt = new Map<string, MonotonicMs>();

  /** `began`: all waits, if one of them is new; `changed`: the sources that started or stopped waiting. */
  take(
    schedules: ReadonlyMap<Source, Schedule>,
    monotonic: MonotonicMs,
  ): { began: Waits | undefined; changed: Source[] } {
    const waits = new Map([...schedules].flatMap(([source, { wait }]) => (wait ? [[source, wait]] : [])));
    const waiting = new Set([...waits.keys()].map(sourceId));
    const isChanged = (id: string): boolean => waiting.has(id) !== this.#waiting.has(id);
    const isNews = (id: string): boolean =>
      isChanged(id) && monotonic - (this.#seenAt.get(id) ?? Number.NEGATIVE_INFINITY) >= MS_PER_DAY;
    const changed = [...schedules.keys()].filter((source) => isChanged(sourceId(source)));
    const began = [...waiting].some(isNews) ? waits : undefined;
    for (const id of waiting) this.#seenAt.set(id, monotonic);
    this.#waiting = waiting;
    return { began, changed };
  }
}
