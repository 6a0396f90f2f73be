import { missingDays } from './groups.ts';
import type { WrittenSpan } from './plan.ts';
import { Spacing } from './spacing.ts';
import type { Group } from './span-records.ts';

/** Counts what is in an output span. */
export class SpanCounts {
  #records = 0;
  #duplicates = 0;
  #missingDays = 0;
  #spacingSeconds = Number.POSITIVE_INFINITY;

  /** Counts groups on their way. */
  async *counting(groups: AsyncIterable<Group>): AsyncGenerator<Group> {
    for await (const group of groups) {
      this.#add(group);
      yield group;
    }
  }

  #add({ history, records, duplicates }: Group): void {
    this.#records += records.length;
    this.#duplicates += duplicates;
    this.#missingDays += missingDays(history, records);
    const spacing = new Spacing();
    for (const record of records) spacing.add(history.stream(record), history.at(record));
    this.#spacingSeconds = Math.min(this.#spacingSeconds, spacing.closest() ?? Number.POSITIVE_INFINITY);
  }

  result(): Omit<WrittenSpan, 'from' | 'parts'> {
    const spacing = this.#spacingSeconds;
    return {
      records: this.#records,
      duplicates: this.#duplicates,
      missingDays: this.#missingDays,
      ...(Number.isFinite(spacing) ? { spacingSeconds: spacing } : {}),
    };
  }
}
