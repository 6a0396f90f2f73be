import { sourceId } from '../snapshot/snapshot.ts';
import type { Pace, Source } from '../sources/source.ts';
import { isMaterialChange, isTimeToTell, type Telling } from './paces.ts';

type Paces = ReadonlyMap<Source, Pace>;

/** What the operator was told of the plan, and whether it is time to tell more. */
export class PlanNews {
  /** By source id, because a reload makes sources anew. */
  #told: ReadonlyMap<string, Pace> | undefined;
  #telling: Telling | undefined;

  /** Whether these paces are news, which are then taken for told. `isMeasuring`: what polls cost is about to be known. */
  take(paces: Paces, limits: string, at: number, isMeasuring: (paces: Paces) => boolean): boolean {
    const named = new Map([...paces].map(([source, pace]) => [sourceId(source), pace]));
    if (this.#told ? !isMaterialChange(this.#told, named) : isMeasuring(paces)) return false;
    if (this.#telling && !isTimeToTell(this.#telling, limits, at)) return false;
    this.#told = named;
    this.#telling = { at, limits, firstAt: this.#telling?.firstAt ?? at };
    return true;
  }

  /** The configuration is another one: what comes of it is told at once. */
  expectOthers(): void {
    this.#telling = undefined;
  }
}
