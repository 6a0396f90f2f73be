import { SECONDS_PER_DAY } from '../lib/duration.ts';
import type { Group } from './groups.ts';
import type { WrittenSpan } from './plan.ts';
import { Spacing } from './spacing.ts';

/** Counts what is in an output span. */
export class SpanCounts {
  #records = 0;
  #duplicates = 0;
  #missingDays = 0;
  #spacingSeconds = Number.POSITIVE_INFINITY;

  /** Counts groups as they pass through. */
  async *counting(groups: AsyncIterable<Group>): AsyncGenerator<Group> {
    for await (const group of groups) {
      this.#add(group);
      yield group;
    }
  }

  #add(group: Group): void {
    const { history, records, duplicates } = group;
    this.#records += records.length;
    this.#duplicates += duplicates;
    this.#missingDays += missingDays(group);
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

/** Days without a record between the first and the last, for a source with one record a day. */
function missingDays({ history, records }: Group): number {
  if (!history.isDaily) return 0;
  const [first, last] = [records[0], records.at(-1)];
  if (first === undefined || last === undefined) return 0;
  return Math.round((history.at(last) - history.at(first)) / SECONDS_PER_DAY) + 1 - records.length;
}
