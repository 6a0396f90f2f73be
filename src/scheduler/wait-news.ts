import { MS_PER_DAY, type Source } from '../sources/source.ts';
import type { Schedule, Wait } from './schedule.ts';

type Waits = ReadonlyMap<Source, Wait>;

/** What is new about the sources that wait for the quota. */
export class WaitNews {
  #waits: Waits = new Map();
  /** When each was last seen waiting, monotonic ms: a wait that comes and goes within a day is told once. */
  readonly #seenAt = new Map<Source, number>();

  /** `began`: all waits, where one of them is news; `changed`: the sources that began or ceased to wait. */
  take(schedules: ReadonlyMap<Source, Schedule>, monotonic: number): { began: Waits | undefined; changed: Source[] } {
    const waits = new Map([...schedules].flatMap(([source, { wait }]) => (wait ? [[source, wait]] : [])));
    const changed = [...schedules.keys()].filter((source) => waits.has(source) !== this.#waits.has(source));
    const isNews = (source: Source): boolean =>
      !this.#waits.has(source) && monotonic - (this.#seenAt.get(source) ?? Number.NEGATIVE_INFINITY) >= MS_PER_DAY;
    const began = [...waits.keys()].some(isNews) ? waits : undefined;
    for (const source of waits.keys()) this.#seenAt.set(source, monotonic);
    this.#waits = waits;
    return { began, changed };
  }
}
