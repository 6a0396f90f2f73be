import type { Plan, Slice } from './plan.ts';

/** Counts pages and estimates their final number: at first as planned, then by the slices that are complete. */
export class Meter {
  #pages = 0;
  #left: number;
  /** Pages that the complete slices took, and those that were expected. */
  #took = 0;
  #planned = 0;
  /** The plan is weighted like a tenth of all pages, because the first slice may be unusual. */
  readonly #weight: number;
  readonly #pagesOf = new Map<number, number>();

  /** @param done Slices that an earlier run completed. */
  constructor({ slices }: Plan, done: ReadonlySet<number>) {
    this.#left = slices.filter(({ id }) => !done.has(id)).reduce((sum, { expected }) => sum + expected, 0);
    this.#weight = this.#left / 10;
  }

  get done(): number {
    return this.#pages;
  }

  /** Pages of this run in all. */
  get expected(): number {
    const ratio = this.#left === 0 ? 0 : (this.#took + this.#weight) / (this.#planned + this.#weight);
    return Math.max(this.#pages, Math.round(this.#took + this.#left * ratio));
  }

  page({ id }: Slice): void {
    this.#pages += 1;
    this.#pagesOf.set(id, (this.#pagesOf.get(id) ?? 0) + 1);
  }

  complete({ id, expected }: Slice): void {
    this.#left -= expected;
    this.#planned += expected;
    this.#took += this.#pagesOf.get(id) ?? 0;
  }
}
